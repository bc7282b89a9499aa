#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "parallel.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

// Long enough for a hundred of them to be shared out over threads.
void take_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

TEST(long_work_is_shared_out) {
    std::atomic<int> by_others{0};
    parallel_for(50, {.threads = 2}, [&](std::size_t, int thread) {
        take_a_while();
        by_others += thread > 0;
    });
    CHECK(thread_count({.threads = 2}) == 1 || by_others > 0);
}

TEST(every_block_is_run_once) {
    for (int threads = 0; threads <= 4; ++threads) {
        for (const std::size_t blocks : {0u, 1u, 2u, 1000u}) {
            std::vector<std::atomic<int>> runs(blocks);
            std::atomic<bool> numbered{true};
            const Options options{.threads = threads};
            parallel_for(blocks, options, [&](std::size_t block, int thread) {
                ++runs[block];
                if (thread < 0 || thread >= thread_count(options)) numbered = false;
            });
            for (const std::atomic<int>& count : runs) CHECK(count == 1);
            CHECK(numbered);
        }
    }
}

TEST(an_exception_ends_the_loop_and_comes_out) {
    struct Failure {
        std::size_t block;
    };
    for (int threads = 1; threads <= 4; ++threads) {
        std::atomic<int> runs{0};
        bool thrown = false;
        try {
            parallel_for(100000, {.threads = threads}, [&](std::size_t block, int) {
                ++runs;
                if (block == 10) throw Failure{block};
            });
        } catch (const Failure& failure) {
            thrown = failure.block == 10;
        }
        CHECK(thrown);
        CHECK(threads > 1 || runs == 11);
    }
}

TEST(stop_is_called_from_the_calling_thread_and_ends_the_loop) {
    for (int threads = 1; threads <= 3; ++threads) {
        const std::thread::id caller = std::this_thread::get_id();
        int calls = 0;
        bool from_caller = true;
        const Options options{.threads = threads, .stop = [&] {
                                  from_caller = from_caller && std::this_thread::get_id() == caller;
                                  return ++calls == 3;
                              }};
        std::atomic<int> done{0};
        CHECK_THROWS(Interrupted, parallel_for(100000, options, [&](std::size_t, int) {
                         take_a_while();
                         ++done;
                     }));
        CHECK(calls == 3);
        CHECK(from_caller);
        CHECK(done < 100000 / 2);
    }
}

// A body that takes long is left where it says so, on every thread.
TEST(a_long_block_can_be_stopped) {
    end_if_stopped();  // outside of a loop nothing happens
    for (int threads = 1; threads <= 2; ++threads) {
        std::atomic<int> left{0};
        std::atomic<bool> stop{false};
        const Options options{.threads = threads, .stop = [&] { return stop.load(); }};
        CHECK_THROWS(Interrupted, parallel_for(2, options, [&](std::size_t, int) {
                         parallel_for(1, {}, [](std::size_t, int) {});  // a loop within leaves the outer one current
                         stop = true;
                         try {
                             while (true) end_if_stopped();
                         } catch (const Interrupted&) {
                             ++left;
                             throw;
                         }
                     }));
        CHECK(left >= 1);
    }
}

TEST(what_stop_throws_comes_out) {
    struct Cancelled {};
    const Options options{.threads = 2, .stop = []() -> bool { throw Cancelled(); }};
    CHECK_THROWS(Cancelled, parallel_for(100000, options, [](std::size_t, int) { take_a_while(); }));
}

TEST(a_long_run_of_short_loops_can_be_stopped) {
    int calls = 0;
    const Options options{.threads = 1, .stop = [&] { return ++calls == 2; }};
    const auto many = [&] {
        for (int i = 0; i < 10000; ++i) {
            parallel_for(1, options, [](std::size_t, int) { take_a_while(); });
        }
    };
    CHECK_THROWS(Interrupted, many());
}

TEST(several_threads_may_call) {
    std::atomic<int> runs{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
        callers.emplace_back([&] {
            parallel_for(50, {.threads = 2}, [&](std::size_t, int) {
                take_a_while();
                ++runs;
            });
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(runs == 150);
}

TEST(threads_are_no_more_than_processors) {
    CHECK(thread_count({.threads = 1}) == 1);
    CHECK(thread_count({.threads = 1'000'000}) == std::max(thread_count({}), thread_count({.threads = 999'999})));
    std::atomic<int> runs{0};
    parallel_for(100, {.threads = 1'000'000}, [&](std::size_t, int) {
        take_a_while();
        ++runs;
    });
    CHECK(runs == 100);
}

TEST(fewer_than_no_threads_is_an_error) { CHECK_THROWS(std::invalid_argument, thread_count({.threads = -1})); }

#if defined(__unix__) || defined(__APPLE__)
// Last, for the child is a copy of all that went before. A parallel region there would never end.
TEST(a_forked_child_uses_one_thread) {
    parallel_for(100, {.threads = 2}, [](std::size_t, int) { take_a_while(); });
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        std::atomic<int> runs{0};
        parallel_for(100, {.threads = 2}, [&](std::size_t, int) { ++runs; });
        _exit(runs == 100 && thread_count({.threads = 2}) == 1 ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

int main() { return run_tests(); }
