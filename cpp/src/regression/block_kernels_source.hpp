// The kernels in portable vector types. Included by block_kernels_<set>.cpp, which are compiled with the flags of their
// set, name it in KNNMI_BLOCK_ISA and say in KNNMI_BLOCK_LANES how many doubles a register holds. Everything lives in a
// namespace of that name, so that no function built for a wider set can be linked into a narrower one.
#pragma once

#include <cstddef>
#include <cstring>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "block_kernels.hpp"

namespace knnmi::regression::KNNMI_BLOCK_ISA {

// Eight doubles in as many registers of the set as they take. The compiler is not left to split wider vectors: GCC 12
// sends them through memory.
constexpr std::size_t lanes = KNNMI_BLOCK_LANES;
typedef double Register __attribute__((vector_size(lanes * sizeof(double))));
constexpr std::size_t registers = 8 / lanes;
struct Eight {
    Register part[registers];
};

// Register by register: as one copy of 64 bytes GCC 12 sends it through memory too.
inline void load(Eight& to, const double* from) {
    for (std::size_t i = 0; i < registers; ++i) std::memcpy(&to.part[i], from + i * lanes, sizeof(Register));
}
inline void store(double* to, const Eight& from) {
    for (std::size_t i = 0; i < registers; ++i) std::memcpy(to + i * lanes, &from.part[i], sizeof(Register));
}
inline Eight all(double value) {
    Eight a;
    for (std::size_t i = 0; i < registers; ++i) a.part[i] = Register{} + value;
    return a;
}
inline Eight operator*(const Eight& a, const Eight& b) {
    Eight product;
    for (std::size_t i = 0; i < registers; ++i) product.part[i] = a.part[i] * b.part[i];
    return product;
}
inline Eight operator*(double a, const Eight& b) { return all(a) * b; }
inline Eight operator/(const Eight& a, const Eight& b) {
    Eight quotient;
    for (std::size_t i = 0; i < registers; ++i) quotient.part[i] = a.part[i] / b.part[i];
    return quotient;
}
inline void operator+=(Eight& a, const Eight& b) {
    for (std::size_t i = 0; i < registers; ++i) a.part[i] += b.part[i];
}
inline void operator-=(Eight& a, const Eight& b) {
    for (std::size_t i = 0; i < registers; ++i) a.part[i] -= b.part[i];
}
// As one instruction a register: number by number it takes far longer.
inline Register square_root(Register a) {
#if defined(__AVX512F__)
    return _mm512_maskz_sqrt_pd(0xff, a);  // the plain one warns in GCC 12
#elif defined(__AVX__)
    return _mm256_sqrt_pd(a);
#elif defined(__SSE2__)
    return _mm_sqrt_pd(a);
#else
    for (std::size_t i = 0; i < lanes; ++i) a[i] = __builtin_sqrt(a[i]);
    return a;
#endif
}
inline void square_root(Eight& a) {
    for (std::size_t i = 0; i < registers; ++i) a.part[i] = square_root(a.part[i]);
}

// Rows that are worked on at a time, so that both blocks stay in the first cache.
inline constexpr std::size_t rows_at_a_time = 96;

inline void cross(const double* a, const double* b, std::size_t n, double* out) {
    for (std::size_t i = 0; i < width * width; ++i) out[i] = 0.0;
    for (std::size_t begin = 0; begin < n; begin += rows_at_a_time) {
        const std::size_t end = begin + rows_at_a_time < n ? begin + rows_at_a_time : n;
        for (std::size_t i = 0; i < width; i += 4) {
            for (std::size_t j = 0; j < width; j += 8) {
                Eight s0, s1, s2, s3;
                load(s0, out + i * width + j);
                load(s1, out + (i + 1) * width + j);
                load(s2, out + (i + 2) * width + j);
                load(s3, out + (i + 3) * width + j);
                for (std::size_t row = begin; row < end; ++row) {
                    const double* x = a + row * width + i;
                    Eight y;
                    load(y, b + row * width + j);
                    s0 += x[0] * y;
                    s1 += x[1] * y;
                    s2 += x[2] * y;
                    s3 += x[3] * y;
                }
                store(out + i * width + j, s0);
                store(out + (i + 1) * width + j, s1);
                store(out + (i + 2) * width + j, s2);
                store(out + (i + 3) * width + j, s3);
            }
        }
    }
}

// Takes a multiple of a row off another.
inline void reduce(Eight& low, Eight& high, double l, const double* h) {
    Eight x0, x1;
    load(x0, h);
    load(x1, h + 8);
    low -= l * x0;
    high -= l * x1;
}

// Two rows at a time, so that one need not wait for the other; the sums of each are in the order of the rows.
inline void substitute(const double* lower, std::size_t stride, std::size_t first, std::size_t m, double* h) {
    for (std::size_t r = first; r < m; r += 2) {
        const bool both = r + 1 < m;
        const double* one = lower + r * stride;
        const double* two = both ? one + stride : one;
        double* row = h + r * width;
        double* next = both ? row + width : row;
        Eight low, high, next_low, next_high;
        load(low, row);
        load(high, row + 8);
        load(next_low, next);
        load(next_high, next + 8);
        for (std::size_t s = 0; s < r; ++s) {
            reduce(low, high, one[s], h + s * width);
            reduce(next_low, next_high, two[s], h + s * width);
        }
        store(row, low / all(one[r]));
        store(row + 8, high / all(one[r]));
        if (!both) break;
        reduce(next_low, next_high, two[r], row);
        store(next, next_low / all(two[r + 1]));
        store(next + 8, next_high / all(two[r + 1]));
    }
}

inline void downdate(const double* w, const double* c, std::size_t m, double* gram, double* right) {
    for (std::size_t i = 0; i < width; i += 4) {
        for (std::size_t j = 0; j < width; j += 8) {
            double* g = gram + i * width + j;
            Eight s0, s1, s2, s3;
            load(s0, g);
            load(s1, g + width);
            load(s2, g + 2 * width);
            load(s3, g + 3 * width);
            for (std::size_t r = 0; r < m; ++r) {
                const double* x = w + r * width + i;
                Eight y;
                load(y, w + r * width + j);
                s0 -= x[0] * y;
                s1 -= x[1] * y;
                s2 -= x[2] * y;
                s3 -= x[3] * y;
            }
            store(g, s0);
            store(g + width, s1);
            store(g + 2 * width, s2);
            store(g + 3 * width, s3);
        }
    }
    Eight low, high;
    load(low, right);
    load(high, right + 8);
    for (std::size_t r = 0; r < m; ++r) {
        Eight x0, x1;
        load(x0, w + r * width);
        load(x1, w + r * width + 8);
        low -= c[r] * x0;
        high -= c[r] * x1;
    }
    store(right, low);
    store(right + 8, high);
}

// A Cholesky factorisation a prior, one in each lane. It goes column by column, since the rows of a column need not
// wait for each other. The right hand side is one more row.
inline void try_priors(const double* gram, const double* right, const std::size_t* features, std::size_t count,
                       const double* deviations, double* root, double* drop) {
    Eight lower[width + 1][width], d[width], diagonal[width];
    for (std::size_t i = 0; i < count; ++i) {
        load(d[i], deviations + i * batch);
        diagonal[i] = all(1.0);
        diagonal[i] += gram[features[i] * width + features[i]] * (d[i] * d[i]);
    }
    Eight determinant = all(1.0), sum = all(0.0);
    for (std::size_t j = 0; j < count; ++j) {
        square_root(diagonal[j]);
        determinant = determinant * diagonal[j];
        const Eight inverse = all(1.0) / diagonal[j];
        const auto start = [&](std::size_t i) {
            return i < count ? gram[features[i] * width + features[j]] * (d[i] * d[j]) : right[features[j]] * d[j];
        };
        const auto finish = [&](std::size_t i, const Eight& a) {
            lower[i][j] = a * inverse;
            if (i < count) {
                diagonal[i] -= lower[i][j] * lower[i][j];
            } else {
                sum += lower[i][j] * lower[i][j];
            }
        };
        std::size_t i = j + 1;
        for (; i + 4 <= count + 1; i += 4) {
            Eight a0 = start(i), a1 = start(i + 1), a2 = start(i + 2), a3 = start(i + 3);
            for (std::size_t k = 0; k < j; ++k) {
                const Eight l = lower[j][k];
                a0 -= lower[i][k] * l;
                a1 -= lower[i + 1][k] * l;
                a2 -= lower[i + 2][k] * l;
                a3 -= lower[i + 3][k] * l;
            }
            finish(i, a0);
            finish(i + 1, a1);
            finish(i + 2, a2);
            finish(i + 3, a3);
        }
        for (; i <= count; ++i) {
            Eight a = start(i);
            for (std::size_t k = 0; k < j; ++k) a -= lower[i][k] * lower[j][k];
            finish(i, a);
        }
    }
    store(root, determinant);
    store(drop, sum);
}

inline constexpr BlockKernels table() { return {cross, substitute, downdate, try_priors}; }

}  // namespace knnmi::regression::KNNMI_BLOCK_ISA
