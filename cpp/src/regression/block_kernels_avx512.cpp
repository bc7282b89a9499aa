#define KNNMI_BLOCK_ISA avx512
#define KNNMI_BLOCK_LANES 8
#include "block_kernels_source.hpp"

namespace knnmi::regression {

extern const BlockKernels avx512_block_kernels;
const BlockKernels avx512_block_kernels = avx512::table();

}  // namespace knnmi::regression
