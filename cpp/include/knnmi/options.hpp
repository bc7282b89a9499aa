// What may change how long a call takes, and never its answer.
#pragma once

#include <functional>
#include <stdexcept>

namespace knnmi {

enum class Engine {
    automatic,  // the fastest that can serve the call, by measured crossover
    tree,       // nanoflann kd-trees: any number of columns in x, y and z
    column,     // one y column: block boxes and SIMD (x and y of one column each)
    columns,    // many y columns share one sorted neighbour list per point (x and y of one column each)
};

struct Options {
    Engine engine = Engine::automatic;
    int threads = 0;               // 0: as many as OpenMP would use
    std::function<bool()> stop{};  // asked a few times a second, from the calling thread only; true ends the call
};

// The number of threads a call will use at most. Always 1 in a process that was forked after this library was loaded:
// there GCC's OpenMP would wait for threads that exist in the parent only.
int thread_count(const Options& options);

// Thrown by every long call whose `stop` returned true.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("the calculation was interrupted") {}
};

}  // namespace knnmi
