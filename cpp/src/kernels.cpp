#include "kernels.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace knnmi {

extern const Kernels plain_kernels;
#ifdef KNNMI_X86
extern const Kernels avx2_kernels, avx512_kernels;
#endif

namespace {

const Kernels& widest() {
#ifdef KNNMI_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return avx512_kernels;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) return avx2_kernels;
#endif
    return plain_kernels;
}

// Sets are nested, so one that is no wider than the widest can be had.
const Kernels& chosen() {
    const Kernels& best = widest();
    const char* wish = std::getenv("KNNMI_INSTRUCTION_SET");
    if (wish == nullptr || wish == std::string(best.name)) return best;
    if (wish == std::string("plain")) return plain_kernels;
#ifdef KNNMI_X86
    if (wish == std::string("avx2") && &best == &avx512_kernels) return avx2_kernels;
#endif
    throw std::invalid_argument("KNNMI_INSTRUCTION_SET=" + std::string(wish) +
                                ": this machine can run plain code and sets up to " + best.name);
}

}  // namespace

const Kernels& kernels() { return chosen(); }

const char* instruction_set() { return kernels().name; }

}  // namespace knnmi
