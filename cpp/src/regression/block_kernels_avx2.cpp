#define KNNMI_BLOCK_ISA avx2
#define KNNMI_BLOCK_LANES 4
#include "block_kernels_source.hpp"

namespace knnmi::regression {

extern const BlockKernels avx2_block_kernels;
const BlockKernels avx2_block_kernels = avx2::table();

}  // namespace knnmi::regression
