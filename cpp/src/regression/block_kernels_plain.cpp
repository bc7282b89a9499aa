#define KNNMI_BLOCK_ISA plain
#include "block_kernels_source.hpp"

namespace knnmi::regression {

extern const BlockKernels plain_block_kernels;
const BlockKernels plain_block_kernels = plain::table();

}  // namespace knnmi::regression
