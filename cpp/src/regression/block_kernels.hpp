// Small dense linear algebra on blocks of 16 features, once for each instruction set.
//
// Every sum is added up in one fixed order, each in a lane of its own, so that all sets give the same bits.
#pragma once

#include <cstddef>

namespace knnmi::regression {

// Features a block.
inline constexpr std::size_t width = 16;
// Priors that are tried side by side.
inline constexpr std::size_t batch = 8;

struct BlockKernels {
    // out (width x width) = A'B, for A and B of n rows of `width` values.
    void (*cross)(const double* a, const double* b, std::size_t n, double* out);
    // h (m x width) becomes L^-1 h, for the lower triangle L, whose rows are `stride` apart; the rows before `first`
    // are so already.
    void (*substitute)(const double* lower, std::size_t stride, std::size_t first, std::size_t m, double* h);
    // gram (width x width) -= W'W and right (width) -= W'c, for W of m rows.
    void (*downdate)(const double* w, const double* c, std::size_t m, double* gram, double* right);
    // For each of `batch` priors with the standard deviations d[place][prior] of `count` features: the square root of
    // |I + dGd|, and r'd (I + dGd)^-1 d r, for the products G and the right hand side r of all features of a block. The
    // features that are left out have no deviation, and would change no bit.
    void (*try_priors)(const double* gram, const double* right, const std::size_t* features, std::size_t count,
                       const double* deviations, double* root, double* drop);
};

// Those of the widest set that this machine has, or of the one that KNNMI_INSTRUCTION_SET names.
const BlockKernels& block_kernels();

}  // namespace knnmi::regression
