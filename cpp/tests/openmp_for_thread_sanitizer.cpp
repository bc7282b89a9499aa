// What the library uses of GCC's OpenMP run time, on std::thread: ThreadSanitizer does not see how libgomp's own
// threads wait for each other and would report races that are none. Linked into the tests of that build only.
#include <thread>
#include <vector>

namespace {
thread_local int thread_number = 0;
}

extern "C" {

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
    std::vector<std::thread> others;
    for (unsigned number = 1; number < threads; ++number) {
        others.emplace_back([=] {
            thread_number = static_cast<int>(number);
            body(data);
        });
    }
    body(data);
    for (std::thread& other : others) other.join();
}

int omp_get_thread_num() { return thread_number; }
int omp_get_max_threads() { return 4; }
int omp_get_num_procs() { return 4; }
}
