// The operations of simd.hpp on AVX2: two registers of four lanes.
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
inline constexpr std::size_t registers = 8;
inline constexpr std::size_t most_in_registers = 4;

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
inline Doubles add(Doubles a, Doubles b) { return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)}; }
inline Doubles subtract(Doubles a, Doubles b) { return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)}; }
inline Doubles multiply(Doubles a, Doubles b) { return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)}; }
inline Doubles min(Doubles a, Doubles b) { return {_mm256_min_pd(a.low, b.low), _mm256_min_pd(a.high, b.high)}; }
inline Doubles max(Doubles a, Doubles b) { return {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)}; }
inline Doubles absolute(Doubles a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, a.low), _mm256_andnot_pd(sign, a.high)};
}
inline Doubles larger(Doubles a, Doubles b) { return max(a, absolute(b)); }
inline Mask less(Doubles a, Doubles b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ)};
}
inline Mask less_equal(Doubles a, Doubles b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_LE_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_LE_OQ)};
}
inline unsigned bits(Mask m) {
    return static_cast<unsigned>(_mm256_movemask_pd(m.low) | (_mm256_movemask_pd(m.high) << 4));
}
inline Doubles blend(unsigned chosen, Doubles a, Doubles b) {
    const __m256i all = _mm256_set1_epi64x(chosen);
    const __m256i low = _mm256_setr_epi64x(1, 2, 4, 8), high = _mm256_setr_epi64x(16, 32, 64, 128);
    const auto mask = [&](__m256i lane) {
        return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(all, lane), lane));
    };
    return {_mm256_blendv_pd(b.low, a.low, mask(low)), _mm256_blendv_pd(b.high, a.high, mask(high))};
}
inline std::size_t count(std::uint32_t set) { return static_cast<std::size_t>(__builtin_popcount(set)); }
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
inline Positions load_positions(const std::uint16_t* p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Doubles gather(const double* from, Positions at) {
    return {_mm256_i32gather_pd(from, _mm256_castsi256_si128(at), 8),
            _mm256_i32gather_pd(from, _mm256_extracti128_si256(at, 1), 8)};
}
inline Positions positions_from(std::uint32_t first) {
    return _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Positions broadcast_position(std::uint32_t a) { return _mm256_set1_epi32(static_cast<int>(a)); }
inline void store(std::uint32_t* p, Positions a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
inline Positions octave_steps(Doubles a, Positions shift, Positions zero) {
    const auto upper_half = [](Doubles b) {
        const __m256 halves = _mm256_shuffle_ps(_mm256_castpd_ps(b.low), _mm256_castpd_ps(b.high), 0xdd);
        return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), 0xd8);
    };
    const __m256i out =
        _mm256_sub_epi32(upper_half(add(absolute(a), broadcast(1.0))), _mm256_set1_epi32(upper_half_of_1));
    const __m256i sign = _mm256_srai_epi32(upper_half(a), 31);
    return _mm256_add_epi32(_mm256_xor_si256(_mm256_srav_epi32(out, shift), sign), zero);
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

inline std::size_t count_between(const std::uint16_t* values, std::size_t n, std::uint16_t low, std::uint16_t span) {
    if (span == 0) return 0;
    const __m256i origin = _mm256_set1_epi16(static_cast<short>(low));
    const __m256i most = _mm256_set1_epi16(static_cast<short>(span - 1));
    const auto inside = [=](const std::uint16_t* from) {
        const __m256i offset = _mm256_sub_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), origin);
        return _mm256_cmpeq_epi16(_mm256_min_epu16(offset, most), offset);
    };
    const auto add = [](__m256i a, __m256i b) { return _mm256_add_epi16(a, b); };
    __m256i found = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64)
        found = add(found, add(add(inside(values + i), inside(values + i + 16)),
                               add(inside(values + i + 32), inside(values + i + 48))));
    // Of what is left, at most 63: the lanes before its end.
    const __m256i lane = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i left = _mm256_sub_epi16(_mm256_set1_epi16(static_cast<short>(n - i)), lane);
    for (std::size_t j = 0; j < 64; j += 16)
        found = add(found, _mm256_and_si256(inside(values + i + j),
                                            _mm256_cmpgt_epi16(left, _mm256_set1_epi16(static_cast<short>(j)))));
    const __m256i sums = _mm256_madd_epi16(found, _mm256_set1_epi16(-1));
    __m128i total = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(total));
}

struct Shorts {
    __m256i low, high;
};
using ShortMask = Shorts;  // a lane is all ones or all zeros

inline Shorts load_shorts(const std::uint16_t* p) {
    const auto* const halves = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}
inline void store(std::uint16_t* p, Shorts a) {
    auto* const halves = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(halves, a.low);
    _mm256_storeu_si256(halves + 1, a.high);
}
inline Shorts broadcast_short(std::uint16_t a) {
    const __m256i half = _mm256_set1_epi16(static_cast<short>(a));
    return {half, half};
}
inline Shorts subtract(Shorts a, Shorts b) {
    return {_mm256_sub_epi16(a.low, b.low), _mm256_sub_epi16(a.high, b.high)};
}
inline ShortMask equal(Shorts a, Shorts b) {
    return {_mm256_cmpeq_epi16(a.low, b.low), _mm256_cmpeq_epi16(a.high, b.high)};
}
inline ShortMask at_most(Shorts a, Shorts b) {
    return equal({_mm256_min_epu16(a.low, b.low), _mm256_min_epu16(a.high, b.high)}, a);
}
inline ShortMask both(ShortMask a, ShortMask b) {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
inline ShortMask either(ShortMask a, ShortMask b) {
    return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}
inline Shorts count_up(Shorts a, ShortMask m) { return subtract(a, m); }
inline bool any(ShortMask m) {
    const __m256i either = _mm256_or_si256(m.low, m.high);
    return _mm256_testz_si256(either, either) == 0;
}
inline std::uint32_t bits(ShortMask m) {
    // Packed within halves of a register: the quarters come out as 0, 2, 1, 3.
    const __m256i packed = _mm256_packs_epi16(m.low, m.high);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8)));
}

inline std::uint32_t between(const std::uint16_t* values, std::uint16_t low, std::uint16_t span) {
    const Shorts most = broadcast_short(static_cast<std::uint16_t>(span - 1));
    return bits(at_most(subtract(load_shorts(values), broadcast_short(low)), most));
}

using Words = __m256i;
inline constexpr std::size_t word_lanes = 4;

inline Words broadcast_word(std::uint32_t a) { return _mm256_set1_epi32(static_cast<int>(a)); }
inline Words words_from(std::uint32_t first) {
    return _mm256_add_epi32(broadcast_word(first), _mm256_setr_epi64x(0, 1, 2, 3));
}
inline Words product(Words a, Words b) { return _mm256_mul_epu32(a, b); }
inline Words upper_half(Words a) { return _mm256_srli_epi64(a, 32); }
inline Words exclusive_or(Words a, Words b, Words c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
inline void store_in_turn(std::uint32_t* p, Words a, Words b, Words c, Words d) {
    const auto pairs = [](Words first, Words second) {
        return _mm256_blend_epi32(first, _mm256_slli_epi64(second, 32), 0xaa);
    };
    const __m256i ab = pairs(a, b), cd = pairs(c, d);
    const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

}  // namespace knnmi::KNNMI_ISA
