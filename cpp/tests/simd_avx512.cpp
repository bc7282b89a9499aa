#define KNNMI_ISA avx512
#define KNNMI_ISA_AVX512
#include "simd_operations.hpp"

const char* check_avx512(const double* drawn, std::size_t vectors) {
    return knnmi::avx512::check_operations(drawn, vectors);
}
