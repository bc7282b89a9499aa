// What may change how long a call takes, and never its answer.
#pragma once

#include <functional>
#include <stdexcept>

namespace knnmi {

// The fast engines are for x and y of one column each; with more, any choice is the tree.
enum class Engine {
    automatic,  // the fastest, by measured crossover
    tree,       // nanoflann kd-trees: any number of columns in x, y and z
    single,     // one y at a time: block boxes and SIMD
    batch,      // many y share one sorted neighbour list per point
};

struct Options {
    Engine engine = Engine::automatic;
    int threads = 0;               // 0: as many as OpenMP would use; at most the processors that there are
    std::function<bool()> stop{};  // called a few times a second, from the calling thread only; true ends the call
};

// The number of threads a call will use at most. Always 1 in a process that was forked after this library was loaded:
// there GCC's OpenMP would wait for threads that exist in the parent only.
int thread_count(const Options& options);

// Thrown where KNNMI_INSTRUCTION_SET names none that this machine has.
struct UnusableInstructionSet : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Thrown by every long call whose `stop` returned true.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("the calculation was interrupted") {}
};

}  // namespace knnmi
