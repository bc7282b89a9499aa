#define KNNMI_ISA avx512
#define KNNMI_ISA_AVX512
#include "kernels/table.hpp"

namespace knnmi {

extern const Kernels avx512_kernels;
const Kernels avx512_kernels = avx512::table("avx512");

}  // namespace knnmi
