#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace knnmi {
namespace {

using Clock = std::chrono::steady_clock;

// A child of fork inherits libgomp's record of worker threads but not the threads, and its next parallel region waits
// for them for ever. Another library may have started them, so any fork since this one was loaded counts.
std::atomic<int> forks_seen{0};

#if defined(__unix__) || defined(__APPLE__)
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks_seen; });
#endif

// On a busy machine a region ends up to a time slice after its work is done, and libgomp's threads spin while they wait
// for each other: shorter work is not shared out.
constexpr std::chrono::milliseconds worth_sharing{1};

// Kept between calls, so that a long run of short loops looks as often as one long loop.
thread_local Clock::time_point last_looked{};

bool stop_wanted(const std::function<bool()>& stop) {
    constexpr std::chrono::milliseconds interval{50};
    const Clock::time_point now = Clock::now();
    if (now - last_looked < interval) return false;
    last_looked = now;
    return stop();
}

// The loop that a thread is in, the innermost one.
struct Loop {
    const Options& options;
    const std::atomic<bool>& ended;
    int thread;
};
thread_local const Loop* current = nullptr;

// Is in a loop as long as it lives.
class InLoop {
public:
    explicit InLoop(const Loop& loop) : outer_(std::exchange(current, &loop)) {}
    ~InLoop() { current = outer_; }
    InLoop(const InLoop&) = delete;
    InLoop& operator=(const InLoop&) = delete;

private:
    const Loop* outer_;
};

}  // namespace

int forks() { return forks_seen; }

int thread_count(const Options& options) {
    if (options.threads < 0) throw std::invalid_argument("threads must be 0 (as many as OpenMP would use) or more");
#ifdef _OPENMP
    if (forks() > 0) return 1;
    // More than there are processors for are of no use, and where a system cannot make them libgomp ends the process.
    const int most = std::max(omp_get_num_procs(), omp_get_max_threads());
    return options.threads == 0 ? omp_get_max_threads() : std::min(options.threads, most);
#else
    return 1;
#endif
}

void parallel_for(std::size_t blocks, const Options& options,
                  const std::function<void(std::size_t block, int thread)>& body) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> ended{false};
    std::mutex failure_lock;
    std::exception_ptr failure;

    // No exception may leave a parallel region.
    const auto work = [&](int thread, const auto& enough) noexcept {
        const Loop loop{options, ended, thread};
        const InLoop in(loop);
        try {
            while (!ended && !enough()) {
                end_if_stopped();
                const std::size_t block = next++;
                if (block >= blocks) return;
                body(block, thread);
            }
        } catch (...) {
            const std::lock_guard lock(failure_lock);
            if (!failure) failure = std::current_exception();
            ended = true;
        }
    };

    // The calling thread goes ahead alone until it has seen that the rest will take long. One thread alone does not
    // even enter libgomp.
    const std::size_t threads = std::min(static_cast<std::size_t>(thread_count(options)), blocks);
    const Clock::time_point start = Clock::now();
    work(0, [&] {
        const std::size_t done = next;
        return threads > 1 && done > 0 && done < blocks &&
               (Clock::now() - start) / done * (blocks - done) > worth_sharing;
    });
#ifdef _OPENMP
    if (!ended && next < blocks) {
#pragma omp parallel num_threads(static_cast<int>(threads))
        work(omp_get_thread_num(), [] { return false; });
    }
#endif
    if (failure) std::rethrow_exception(failure);
}

void end_if_stopped() {
    if (current == nullptr) return;
    const bool asks = current->thread == 0 && current->options.stop;
    if (current->ended || (asks && stop_wanted(current->options.stop))) throw Interrupted();
}

void parallel_runs(std::size_t rows, const Options& options,
                   const std::function<void(std::size_t begin, std::size_t end)>& body) {
    constexpr std::size_t run = 64;  // rows that a thread takes at a time
    parallel_for((rows + run - 1) / run, options,
                 [&](std::size_t block, int) { body(block * run, std::min((block + 1) * run, rows)); });
}

}  // namespace knnmi
