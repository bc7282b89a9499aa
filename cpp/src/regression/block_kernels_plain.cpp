#define KNNMI_BLOCK_ISA plain
#define KNNMI_BLOCK_LANES 2
#include "block_kernels_source.hpp"

namespace knnmi::regression {

extern const BlockKernels plain_block_kernels;
const BlockKernels plain_block_kernels = plain::table();

}  // namespace knnmi::regression
