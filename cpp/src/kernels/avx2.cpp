#define KNNMI_ISA avx2
#define KNNMI_ISA_AVX2
#include "kernels/table.hpp"

namespace knnmi {

extern const Kernels avx2_kernels;
const Kernels avx2_kernels = avx2::table("avx2");

}  // namespace knnmi
