// The operations of simd.hpp on AVX-512: a register holds all eight lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns about its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace knnmi::KNNMI_ISA {

inline constexpr std::size_t lanes = 8;
inline constexpr std::size_t registers = 32;
inline constexpr std::size_t most_in_registers = 10;

using Doubles = __m512d;
using Mask = __mmask8;
using Integers = __m512i;

inline Doubles load(const double* p) { return _mm512_loadu_pd(p); }
inline void store(double* p, Doubles a) { _mm512_storeu_pd(p, a); }
inline Doubles broadcast(double a) { return _mm512_set1_pd(a); }
inline Doubles add(Doubles a, Doubles b) { return _mm512_add_pd(a, b); }
inline Doubles subtract(Doubles a, Doubles b) { return _mm512_sub_pd(a, b); }
inline Doubles multiply(Doubles a, Doubles b) { return _mm512_mul_pd(a, b); }
inline Doubles min(Doubles a, Doubles b) { return _mm512_min_pd(a, b); }
inline Doubles max(Doubles a, Doubles b) { return _mm512_max_pd(a, b); }
inline Doubles absolute(Doubles a) { return _mm512_abs_pd(a); }
inline Doubles larger(Doubles a, Doubles b) {
    constexpr int largest_absolute = 0b1011;
    return _mm512_range_pd(a, b, largest_absolute);
}
inline Mask less(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline Mask less_equal(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
inline unsigned bits(Mask m) { return m; }
inline Doubles blend(unsigned chosen, Doubles a, Doubles b) {
    return _mm512_mask_blend_pd(static_cast<Mask>(chosen), b, a);
}
inline std::size_t count(std::uint32_t set) { return static_cast<std::size_t>(__builtin_popcount(set)); }
inline double first_lane(Doubles a) { return _mm512_cvtsd_f64(a); }

inline Integers zeros() { return _mm512_setzero_si512(); }
inline void store(std::int64_t* p, Integers a) { _mm512_storeu_si512(p, a); }
inline Integers count_up(Integers a, Mask m) { return _mm512_mask_sub_epi64(a, m, a, _mm512_set1_epi64(-1)); }

template <int Step>
inline Doubles exchange(Doubles a) {
    if constexpr (Step == 4) return _mm512_shuffle_f64x2(a, a, 0x4e);
    if constexpr (Step == 2) return _mm512_permutex_pd(a, 0x4e);
    if constexpr (Step == 1) return _mm512_permute_pd(a, 0x55);
}

inline void store_whole(std::int32_t* p, Doubles a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvttpd_epi32(a));
}

inline void compress(double* out, Doubles a, unsigned chosen) {
    _mm512_storeu_pd(out, _mm512_maskz_compress_pd(static_cast<Mask>(chosen), a));
}

using Positions = __m256i;

inline Positions load_positions(const std::uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Positions load_positions(const std::uint16_t* p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Doubles gather(const double* from, Positions at) { return _mm512_i32gather_pd(at, from, 8); }
inline Positions positions_from(std::uint32_t first) {
    return _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Positions broadcast_position(std::uint32_t a) { return _mm256_set1_epi32(static_cast<int>(a)); }
inline void store(std::uint32_t* p, Positions a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
inline Positions octave_steps(Doubles a, Positions shift, Positions zero) {
    const auto upper_half = [](Doubles b) {
        return _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_castpd_si512(b), 32));
    };
    const __m256i out = _mm256_sub_epi32(upper_half(_mm512_add_pd(_mm512_abs_pd(a), _mm512_set1_pd(1.0))),
                                         _mm256_set1_epi32(upper_half_of_1));
    const __m256i sign = _mm256_srai_epi32(upper_half(a), 31);
    return _mm256_add_epi32(_mm256_xor_si256(_mm256_srav_epi32(out, shift), sign), zero);
}
inline void compress(std::uint32_t* out, Positions a, unsigned chosen) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_compress_epi32(static_cast<Mask>(chosen), a));
}

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

inline std::size_t count_between(const std::uint16_t* values, std::size_t n, std::uint16_t low, std::uint16_t span) {
    const __m512i origin = _mm512_set1_epi16(static_cast<short>(low)),
                  limit = _mm512_set1_epi16(static_cast<short>(span));
    const auto inside = [=](const std::uint16_t* from) -> std::uint32_t {
        return _mm512_cmplt_epu16_mask(_mm512_sub_epi16(_mm512_loadu_si512(from), origin), limit);
    };
    std::size_t found = 0, i = 0;
    for (; i + 64 <= n; i += 64) found += count(inside(values + i)) + count(inside(values + i + 32));
    const std::uint64_t rest = (std::uint64_t{1} << (n - i)) - 1;
    return found + count(inside(values + i) & static_cast<std::uint32_t>(rest)) +
           count(inside(values + i + 32) & static_cast<std::uint32_t>(rest >> 32));
}

using Shorts = __m512i;
using ShortMask = __mmask32;

inline Shorts load_shorts(const std::uint16_t* p) { return _mm512_loadu_si512(p); }
inline void store(std::uint16_t* p, Shorts a) { _mm512_storeu_si512(p, a); }
inline Shorts broadcast_short(std::uint16_t a) { return _mm512_set1_epi16(static_cast<short>(a)); }
inline Shorts subtract(Shorts a, Shorts b) { return _mm512_sub_epi16(a, b); }
inline ShortMask at_most(Shorts a, Shorts b) { return _mm512_cmple_epu16_mask(a, b); }
inline ShortMask equal(Shorts a, Shorts b) { return _mm512_cmpeq_epi16_mask(a, b); }
inline ShortMask both(ShortMask a, ShortMask b) { return a & b; }
inline ShortMask either(ShortMask a, ShortMask b) { return a | b; }
inline Shorts count_up(Shorts a, ShortMask m) { return _mm512_mask_sub_epi16(a, m, a, _mm512_set1_epi16(-1)); }
inline bool any(ShortMask m) { return m != 0; }
inline std::uint32_t bits(ShortMask m) { return m; }

inline std::uint32_t between(const std::uint16_t* values, std::uint16_t low, std::uint16_t span) {
    return _mm512_cmplt_epu16_mask(subtract(load_shorts(values), broadcast_short(low)), broadcast_short(span));
}

using Words = __m512i;
inline constexpr std::size_t word_lanes = 8;

inline Words broadcast_word(std::uint32_t a) { return _mm512_set1_epi32(static_cast<int>(a)); }
inline Words words_from(std::uint32_t first) {
    return _mm512_add_epi32(broadcast_word(first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Words product(Words a, Words b) { return _mm512_mul_epu32(a, b); }
inline Words upper_half(Words a) { return _mm512_srli_epi64(a, 32); }
inline Words exclusive_or(Words a, Words b, Words c) {
    constexpr int odd = 0x96;  // whether one or three of the bits are set
    return _mm512_ternarylogic_epi32(a, b, c, odd);
}
inline void store_in_turn(std::uint32_t* p, Words a, Words b, Words c, Words d) {
    const auto pairs = [](Words first, Words second) {
        return _mm512_mask_blend_epi32(0xaaaa, first, _mm512_slli_epi64(second, 32));
    };
    const __m512i ab = pairs(a, b), cd = pairs(c, d);
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(p, _mm512_permutex2var_epi64(ab, low, cd));
    _mm512_storeu_si512(p + 16, _mm512_permutex2var_epi64(ab, high, cd));
}

}  // namespace knnmi::KNNMI_ISA
