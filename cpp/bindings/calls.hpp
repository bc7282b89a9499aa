// The calls that are under way, so that none is when the interpreter ends.
//
// Python ends a thread that takes the GIL after that by unwinding its stack from within pthread_exit. C++ frames
// that may not throw, such as the destructor that takes the GIL back, abort the process then. So before it ends, all
// calls are stopped, and new ones refused.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace knnmi::bindings {

struct InterpreterEnds {};

// Changed with the GIL held; read without it when a call looks whether to stop.
inline std::atomic<bool> interpreter_ends{false};
inline std::atomic<int> calls_under_way{0};

inline void stop_if_interpreter_ends() {
    if (interpreter_ends) throw InterpreterEnds();
}

// Lives as long as a call without the GIL.
class Call {
public:
    Call() {
        stop_if_interpreter_ends();
        ++calls_under_way;
    }
    ~Call() { --calls_under_way; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

// Runs `work` without the GIL.
template <class Work>
auto without_gil(const Work& work) {
    const Call call;
    const pybind11::gil_scoped_release released;
    return work();
}

// Called by Python's atexit. The wait is bounded: in a forked child, calls of threads that were left behind never end.
inline void end_calls() {
    interpreter_ends = true;
    const pybind11::gil_scoped_release released;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (calls_under_way > 0 && std::chrono::steady_clock::now() < latest)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace knnmi::bindings
