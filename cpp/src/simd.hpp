// Eight doubles at a time: the only file with intrinsics.
//
// Included by kernels_<instruction set>.cpp, which name the set in KNNMI_ISA and are compiled with its flags.
// Everything lives in a namespace of that name, so that no function built for a wider set can be linked into a
// narrower one; for the same reason kernels use nothing from the standard library that has code.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(KNNMI_ISA_AVX512) || defined(KNNMI_ISA_AVX2)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns about its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace knnmi::KNNMI_ISA {

inline constexpr std::size_t lanes = 8;

#if defined(KNNMI_ISA_AVX512)

using Doubles = __m512d;
using Mask = __mmask8;
using Integers = __m512i;  // eight 64-bit integers

inline Doubles load(const double* p) { return _mm512_loadu_pd(p); }
inline void store(double* p, Doubles a) { _mm512_storeu_pd(p, a); }
inline Doubles broadcast(double a) { return _mm512_set1_pd(a); }
inline Doubles subtract(Doubles a, Doubles b) { return _mm512_sub_pd(a, b); }
inline Doubles multiply(Doubles a, Doubles b) { return _mm512_mul_pd(a, b); }
inline Doubles min(Doubles a, Doubles b) { return _mm512_min_pd(a, b); }  // b when one of them is not a number
inline Doubles max(Doubles a, Doubles b) { return _mm512_max_pd(a, b); }
inline Doubles absolute(Doubles a) { return _mm512_abs_pd(a); }
inline Mask less(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline Mask less_equal(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
inline unsigned bits(Mask m) { return m; }
inline std::size_t count(unsigned lane_bits) { return static_cast<std::size_t>(__builtin_popcount(lane_bits)); }
inline double first_lane(Doubles a) { return _mm512_cvtsd_f64(a); }

inline Integers zeros() { return _mm512_setzero_si512(); }
inline void store(std::int64_t* p, Integers a) { _mm512_storeu_si512(p, a); }
inline Integers count_up(Integers a, Mask m) { return _mm512_mask_sub_epi64(a, m, a, _mm512_set1_epi64(-1)); }

// Lane l of the result is lane l ^ Step of a.
template <int Step>
inline Doubles exchange(Doubles a) {
    if constexpr (Step == 4) return _mm512_shuffle_f64x2(a, a, 0x4e);
    if constexpr (Step == 2) return _mm512_permutex_pd(a, 0x4e);
    if constexpr (Step == 1) return _mm512_permute_pd(a, 0x55);
}

// Rounded towards zero; each must fit.
inline void store_whole(std::int32_t* p, Doubles a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvttpd_epi32(a));
}

// Writes the chosen lanes one after another; all eight places of `out` may be overwritten.
inline void compress(double* out, Doubles a, unsigned chosen) {
    _mm512_storeu_pd(out, _mm512_maskz_compress_pd(static_cast<Mask>(chosen), a));
}

using Positions = __m256i;  // eight 32-bit integers

inline Positions load_positions(const std::uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
// first, first + 1, ...
inline Positions positions_from(std::uint32_t first) {
    return _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline void compress(std::uint32_t* out, Positions a, unsigned chosen) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_compress_epi32(static_cast<Mask>(chosen), a));
}

// How many of n values are in [low, low + span).
inline std::size_t count_between(const std::uint32_t* values, std::size_t n, std::uint32_t low, std::uint32_t span) {
    const __m512i origin = _mm512_set1_epi32(static_cast<int>(low)), limit = _mm512_set1_epi32(static_cast<int>(span));
    const auto inside = [=](__m512i v) { return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(v, origin), limit); };
    std::size_t found = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        const __mmask16 low_half = inside(_mm512_loadu_si512(values + i));
        const __mmask16 high_half = inside(_mm512_loadu_si512(values + i + 16));
        found += static_cast<std::size_t>(__builtin_popcount(_mm512_kunpackw(high_half, low_half)));
    }
    const std::uint32_t rest = (1u << (n - i)) - 1;
    const __mmask16 low_rest = static_cast<__mmask16>(rest), high_rest = static_cast<__mmask16>(rest >> 16);
    const unsigned in_low = inside(_mm512_maskz_loadu_epi32(low_rest, values + i)) & low_rest;
    const unsigned in_high = inside(_mm512_maskz_loadu_epi32(high_rest, values + i + 16)) & high_rest;
    return found + static_cast<std::size_t>(__builtin_popcount(in_high << 16 | in_low));
}

#elif defined(KNNMI_ISA_AVX2)

// Copied half by half: GCC moves a trivial struct of this size through general registers.
struct Doubles {
    __m256d low, high;

    Doubles() = default;
    Doubles(__m256d first, __m256d second) : low(first), high(second) {}
    Doubles(const Doubles& other) : low(other.low), high(other.high) {}
    Doubles& operator=(const Doubles& other) {
        low = other.low;
        high = other.high;
        return *this;
    }
};
using Mask = Doubles;  // a lane is all ones or all zeros
struct Integers {
    __m256i low, high;
};

inline Doubles load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
inline void store(double* p, Doubles a) {
    _mm256_storeu_pd(p, a.low);
    _mm256_storeu_pd(p + 4, a.high);
}
inline Doubles broadcast(double a) { return {_mm256_set1_pd(a), _mm256_set1_pd(a)}; }
inline Doubles subtract(Doubles a, Doubles b) { return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)}; }
inline Doubles multiply(Doubles a, Doubles b) { return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)}; }
inline Doubles min(Doubles a, Doubles b) { return {_mm256_min_pd(a.low, b.low), _mm256_min_pd(a.high, b.high)}; }
inline Doubles max(Doubles a, Doubles b) { return {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)}; }
inline Doubles absolute(Doubles a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, a.low), _mm256_andnot_pd(sign, a.high)};
}
inline Mask less(Doubles a, Doubles b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ)};
}
inline Mask less_equal(Doubles a, Doubles b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_LE_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_LE_OQ)};
}
inline unsigned bits(Mask m) {
    return static_cast<unsigned>(_mm256_movemask_pd(m.low) | (_mm256_movemask_pd(m.high) << 4));
}
inline std::size_t count(unsigned lane_bits) { return static_cast<std::size_t>(__builtin_popcount(lane_bits)); }
inline double first_lane(Doubles a) { return _mm256_cvtsd_f64(a.low); }

inline Integers zeros() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
inline void store(std::int64_t* p, Integers a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 4), a.high);
}
inline Integers count_up(Integers a, Mask m) {
    return {_mm256_sub_epi64(a.low, _mm256_castpd_si256(m.low)), _mm256_sub_epi64(a.high, _mm256_castpd_si256(m.high))};
}

template <int Step>
inline Doubles exchange(Doubles a) {
    if constexpr (Step == 4) return {a.high, a.low};
    if constexpr (Step == 2) return {_mm256_permute4x64_pd(a.low, 0x4e), _mm256_permute4x64_pd(a.high, 0x4e)};
    if constexpr (Step == 1) return {_mm256_permute_pd(a.low, 5), _mm256_permute_pd(a.high, 5)};
}

inline void store_whole(std::int32_t* p, Doubles a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvttpd_epi32(a.low));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 4), _mm256_cvttpd_epi32(a.high));
}

// Row m lists the set bits of m, ascending: the lanes that `compress` moves to the front.
struct SetBits {
    alignas(64) std::uint8_t of[256][8] = {};
    constexpr SetBits() {
        for (unsigned m = 0; m < 256; ++m)
            for (unsigned lane = 0, n = 0; lane < 8; ++lane)
                if (m >> lane & 1u) of[m][n++] = static_cast<std::uint8_t>(lane);
    }
};
inline constexpr SetBits set_bits{};

inline __m256i set_bits_of(unsigned chosen) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(set_bits.of[chosen])));
}
inline void compress_half(double* out, __m256d a, unsigned chosen) {
    // A double is two 32-bit halves, 2 * lane and 2 * lane + 1.
    const __m256i lane = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(set_bits_of(chosen)));
    const __m256i low = _mm256_slli_epi64(lane, 1);
    const __m256i high = _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32);
    const __m256i pair = _mm256_or_si256(low, high);
    _mm256_storeu_pd(out, _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(a), pair)));
}
inline void compress(double* out, Doubles a, unsigned chosen) {
    compress_half(out, a.low, chosen & 15u);
    compress_half(out + count(chosen & 15u), a.high, chosen >> 4);
}

using Positions = __m256i;

inline Positions load_positions(const std::uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Positions positions_from(std::uint32_t first) {
    return _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline void compress(std::uint32_t* out, Positions a, unsigned chosen) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(a, set_bits_of(chosen)));
}

inline std::size_t count_between(const std::uint32_t* values, std::size_t n, std::uint32_t low, std::uint32_t span) {
    if (span == 0) return 0;
    const __m256i origin = _mm256_set1_epi32(static_cast<int>(low));
    const __m256i most = _mm256_set1_epi32(static_cast<int>(span - 1));
    __m256i found = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i));
        const __m256i offset = _mm256_sub_epi32(value, origin);
        found = _mm256_sub_epi32(found, _mm256_cmpeq_epi32(_mm256_min_epu32(offset, most), offset));
    }
    alignas(32) std::uint32_t by_lane[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(by_lane), found);
    std::size_t total = 0;
    for (std::uint32_t lane : by_lane) total += lane;
    for (; i < n; ++i) total += values[i] - low < span;
    return total;
}

#else  // pairs, which the vector types of GCC and Clang have on any processor

typedef double PairOfDoubles __attribute__((vector_size(16)));
typedef std::int64_t PairOfIntegers __attribute__((vector_size(16)));

// Copied pair by pair, for the compiler to keep them in registers.
template <class Pair>
struct FourPairs {
    Pair a, b, c, d;

    FourPairs() = default;
    FourPairs(Pair first, Pair second, Pair third, Pair fourth) : a(first), b(second), c(third), d(fourth) {}
    FourPairs(const FourPairs& other) : a(other.a), b(other.b), c(other.c), d(other.d) {}
    FourPairs& operator=(const FourPairs& other) {
        a = other.a;
        b = other.b;
        c = other.c;
        d = other.d;
        return *this;
    }
};
using Doubles = FourPairs<PairOfDoubles>;
using Integers = FourPairs<PairOfIntegers>;
using Mask = Integers;  // a lane is -1 or 0

inline Doubles load(const double* p) {
    return {PairOfDoubles{p[0], p[1]}, PairOfDoubles{p[2], p[3]}, PairOfDoubles{p[4], p[5]}, PairOfDoubles{p[6], p[7]}};
}
template <class T, class Pair>
inline void store(T* p, const FourPairs<Pair>& v) {
    __builtin_memcpy(p, &v.a, sizeof v.a);
    __builtin_memcpy(p + 2, &v.b, sizeof v.b);
    __builtin_memcpy(p + 4, &v.c, sizeof v.c);
    __builtin_memcpy(p + 6, &v.d, sizeof v.d);
}
inline Doubles broadcast(double a) {
    const PairOfDoubles pair{a, a};
    return {pair, pair, pair, pair};
}
inline Doubles subtract(const Doubles& x, const Doubles& y) { return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d}; }
inline Doubles multiply(const Doubles& x, const Doubles& y) { return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d}; }
inline Doubles min(const Doubles& x, const Doubles& y) {
    return {x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b, x.c < y.c ? x.c : y.c, x.d < y.d ? x.d : y.d};
}
inline Doubles max(const Doubles& x, const Doubles& y) {
    return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b, x.c > y.c ? x.c : y.c, x.d > y.d ? x.d : y.d};
}
inline PairOfDoubles absolute(PairOfDoubles a) {
    constexpr std::int64_t magnitude = 0x7fffffffffffffff;
    return reinterpret_cast<PairOfDoubles>(reinterpret_cast<PairOfIntegers>(a) & magnitude);
}
inline Doubles absolute(const Doubles& x) { return {absolute(x.a), absolute(x.b), absolute(x.c), absolute(x.d)}; }
inline Mask less(const Doubles& x, const Doubles& y) { return {x.a < y.a, x.b < y.b, x.c < y.c, x.d < y.d}; }
inline Mask less_equal(const Doubles& x, const Doubles& y) { return {x.a <= y.a, x.b <= y.b, x.c <= y.c, x.d <= y.d}; }
inline unsigned bits(const Mask& m) {
    const PairOfIntegers bit = (m.a & PairOfIntegers{1, 2}) | (m.b & PairOfIntegers{4, 8}) |
                               (m.c & PairOfIntegers{16, 32}) | (m.d & PairOfIntegers{64, 128});
    return static_cast<unsigned>(bit[0] | bit[1]);
}
// By halves: without an instruction for it, __builtin_popcount is a function call.
inline std::size_t count(unsigned lane_bits) {
    lane_bits -= lane_bits >> 1 & 0x55u;
    lane_bits = (lane_bits & 0x33u) + (lane_bits >> 2 & 0x33u);
    return (lane_bits & 0x0fu) + (lane_bits >> 4);
}
inline double first_lane(const Doubles& x) { return x.a[0]; }

inline Integers zeros() { return {PairOfIntegers{}, PairOfIntegers{}, PairOfIntegers{}, PairOfIntegers{}}; }
inline Integers count_up(const Integers& n, const Mask& m) { return {n.a - m.a, n.b - m.b, n.c - m.c, n.d - m.d}; }

template <int Step>
inline Doubles exchange(const Doubles& x) {
    if constexpr (Step == 4) return {x.c, x.d, x.a, x.b};
    if constexpr (Step == 2) return {x.b, x.a, x.d, x.c};
    const auto swapped = [](PairOfDoubles pair) { return PairOfDoubles{pair[1], pair[0]}; };
    return {swapped(x.a), swapped(x.b), swapped(x.c), swapped(x.d)};
}

inline void store_whole(std::int32_t* p, const Doubles& x) {
    double values[lanes];
    store(values, x);
    for (std::size_t l = 0; l < lanes; ++l) p[l] = static_cast<std::int32_t>(values[l]);
}

template <class T>
inline void compress_values(T* out, const T* values, unsigned chosen) {
    for (std::size_t l = 0; l < lanes; ++l) {
        *out = values[l];
        out += chosen >> l & 1u;
    }
}
inline void compress(double* out, const Doubles& x, unsigned chosen) {
    double values[lanes];
    store(values, x);
    compress_values(out, values, chosen);
}

struct Positions {
    std::uint32_t at[lanes];
};

inline Positions load_positions(const std::uint32_t* p) { return {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}}; }
inline Positions positions_from(std::uint32_t first) {
    return {{first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7}};
}
inline void compress(std::uint32_t* out, const Positions& x, unsigned chosen) { compress_values(out, x.at, chosen); }

inline std::size_t count_between(const std::uint32_t* values, std::size_t n, std::uint32_t low, std::uint32_t span) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found += values[i] - low < span;
    return found;
}

#endif

inline Doubles distance(Doubles a, Doubles b) { return absolute(subtract(a, b)); }
inline bool any(Mask m) { return bits(m) != 0; }

}  // namespace knnmi::KNNMI_ISA
