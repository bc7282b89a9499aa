#include "knnmi/build_info.hpp"

#include "kd_tree.hpp"
#include "kernels/kernels.hpp"

namespace knnmi {
namespace {

// From 0xMMmmpp, or 0xMmp before 1.10.
std::string dotted(int version) {
    const bool wide = version >= 0x10000;
    const int bits = wide ? 8 : 4, mask = (1 << bits) - 1;
    return std::to_string(version >> (2 * bits)) + "." + std::to_string(version >> bits & mask) + "." +
           std::to_string(version & mask);
}

}  // namespace

BuildInfo build_info() {
    return {
        .nanoflann = dotted(nanoflann_version()),
        .nanoflann_source = KNNMI_NANOFLANN_SOURCE,
#if defined(__clang__)
        .compiler = "Clang " __clang_version__,
#elif defined(__GNUC__)
        .compiler = "GCC " __VERSION__,
#else
        .compiler = "unknown",
#endif
#ifdef _OPENMP
        .openmp = std::to_string(_OPENMP),
#else
        .openmp = "",
#endif
        .instruction_set = kernels().name,
    };
}

}  // namespace knnmi
