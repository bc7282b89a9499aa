#define KNNMI_ISA avx2
#define KNNMI_ISA_AVX2
#include "simd_operations.hpp"

const char* check_avx2(const double* drawn, std::size_t vectors) {
    return knnmi::avx2::check_operations(drawn, vectors);
}
