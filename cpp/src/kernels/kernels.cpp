#include "kernels/kernels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "knnmi/options.hpp"

namespace knnmi {

extern const Kernels plain_kernels;
#ifdef KNNMI_X86
extern const Kernels avx2_kernels, avx512_kernels;
#endif

namespace {

std::vector<const Kernels*> find_usable() {
    std::vector<const Kernels*> found{&plain_kernels};
#ifdef KNNMI_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
        found.push_back(&avx2_kernels);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
            found.push_back(&avx512_kernels);
    }
#endif
    return found;
}

const Kernels& choose() {
    const char* const wish = std::getenv("KNNMI_INSTRUCTION_SET");
    if (wish == nullptr) return *usable_kernels().back();
    std::string names;
    for (const Kernels* const set : usable_kernels()) {
        if (wish == std::string(set->name)) return *set;
        names += (names.empty() ? "" : ", ") + std::string(set->name);
    }
    throw UnusableInstructionSet("the environment variable KNNMI_INSTRUCTION_SET is '" + std::string(wish) +
                                 "': unset it, or give one that this machine has: " + names);
}

}  // namespace

std::span<const Kernels* const> usable_kernels() {
    static const std::vector<const Kernels*> found = find_usable();
    return found;
}

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace knnmi
