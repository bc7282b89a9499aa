#include "block_kernels.hpp"

#include <string>

#include "knnmi/build_info.hpp"

namespace knnmi::regression {

extern const BlockKernels plain_block_kernels;
#ifdef KNNMI_X86
extern const BlockKernels avx2_block_kernels, avx512_block_kernels;
#endif

const BlockKernels& block_kernels() {
#ifdef KNNMI_X86
    const std::string set = build_info().instruction_set;
    if (set == "avx512") return avx512_block_kernels;
    if (set == "avx2") return avx2_block_kernels;
#endif
    return plain_block_kernels;
}

}  // namespace knnmi::regression
