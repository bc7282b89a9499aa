// One way to run blocks of work on several threads: OpenMP, guarded.
#pragma once

#include <cstddef>
#include <functional>

#include "knnmi/options.hpp"

namespace knnmi {

// Runs body(block, thread) for block = 0..blocks-1, dynamically scheduled, on one thread when that takes a millisecond
// at most; `thread` is in 0..thread_count(options)-1, for scratch space. The first exception thrown by a body ends the
// loop and is rethrown here; options.stop is called from the calling thread a few times a second between blocks, and
// Interrupted is thrown when it says so.
void parallel_for(std::size_t blocks, const Options& options,
                  const std::function<void(std::size_t block, int thread)>& body);

// For bodies whose blocks may take long: leaves the body where its loop is to end, by an exception. Does nothing
// outside of a loop.
void end_if_stopped();

// The same for runs of rows that together are 0..rows-1: calls body(begin, end).
void parallel_runs(std::size_t rows, const Options& options,
                   const std::function<void(std::size_t begin, std::size_t end)>& body);

// How often this process, or one that it is a child of, was forked since the library was loaded. Locks of older objects
// may be held by threads that a child does not have.
int forks();

}  // namespace knnmi
