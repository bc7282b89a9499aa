#define KNNMI_ISA plain
#include "simd_operations.hpp"

const char* check_plain(const double* drawn, std::size_t vectors) {
    return knnmi::plain::check_operations(drawn, vectors);
}
