// Something that is made when it is first wanted, by whichever thread it is.
#pragma once

#include <atomic>
#include <mutex>

namespace knnmi {

template <class T>
class MadeLater {
public:
    // Calls make(value) before the first use, and again only if it threw.
    template <class Make>
    const T& get(const Make& make) {
        if (!made_.load(std::memory_order_acquire)) {
            const std::lock_guard lock(lock_);
            if (!made_.load(std::memory_order_relaxed)) {
                make(value_);
                made_.store(true, std::memory_order_release);
            }
        }
        return value_;
    }

private:
    std::atomic<bool> made_{false};
    std::mutex lock_;
    T value_;
};

}  // namespace knnmi
