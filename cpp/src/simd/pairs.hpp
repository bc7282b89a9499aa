// The operations of simd.hpp on any processor: four of the vectors of two that GCC and Clang have everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace knnmi::KNNMI_ISA {

inline constexpr std::size_t lanes = 8;
inline constexpr std::size_t registers = 4;
inline constexpr std::size_t most_in_registers = 6;

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
    constexpr std::size_t step = sizeof v.a / sizeof(T);
    __builtin_memcpy(p, &v.a, sizeof v.a);
    __builtin_memcpy(p + step, &v.b, sizeof v.b);
    __builtin_memcpy(p + 2 * step, &v.c, sizeof v.c);
    __builtin_memcpy(p + 3 * step, &v.d, sizeof v.d);
}
inline Doubles broadcast(double a) {
    const PairOfDoubles pair{a, a};
    return {pair, pair, pair, pair};
}
inline Doubles add(Doubles x, Doubles y) { return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d}; }
inline Doubles subtract(Doubles x, Doubles y) { return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d}; }
inline Doubles multiply(Doubles x, Doubles y) { return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d}; }
inline Doubles min(Doubles x, Doubles y) {
    return {x.a < y.a ? x.a : y.a, x.b < y.b ? x.b : y.b, x.c < y.c ? x.c : y.c, x.d < y.d ? x.d : y.d};
}
inline Doubles max(Doubles x, Doubles y) {
    return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b, x.c > y.c ? x.c : y.c, x.d > y.d ? x.d : y.d};
}
inline PairOfDoubles absolute(PairOfDoubles a) {
    constexpr std::int64_t magnitude = 0x7fffffffffffffff;
    return reinterpret_cast<PairOfDoubles>(reinterpret_cast<PairOfIntegers>(a) & magnitude);
}
inline Doubles absolute(Doubles x) { return {absolute(x.a), absolute(x.b), absolute(x.c), absolute(x.d)}; }
inline Doubles larger(Doubles x, Doubles y) { return max(x, absolute(y)); }
inline Mask less(Doubles x, Doubles y) { return {x.a < y.a, x.b < y.b, x.c < y.c, x.d < y.d}; }
inline Mask less_equal(Doubles x, Doubles y) { return {x.a <= y.a, x.b <= y.b, x.c <= y.c, x.d <= y.d}; }
inline unsigned bits(Mask m) {
    const PairOfIntegers bit = (m.a & PairOfIntegers{1, 2}) | (m.b & PairOfIntegers{4, 8}) |
                               (m.c & PairOfIntegers{16, 32}) | (m.d & PairOfIntegers{64, 128});
    return static_cast<unsigned>(bit[0] | bit[1]);
}
inline PairOfDoubles blend(unsigned chosen, PairOfDoubles x, PairOfDoubles y) {
    return PairOfDoubles{(chosen & 1u) != 0 ? x[0] : y[0], (chosen & 2u) != 0 ? x[1] : y[1]};
}
inline Doubles blend(unsigned chosen, Doubles x, Doubles y) {
    return {blend(chosen, x.a, y.a), blend(chosen >> 2, x.b, y.b), blend(chosen >> 4, x.c, y.c),
            blend(chosen >> 6, x.d, y.d)};
}
// By halves: without an instruction for it, __builtin_popcount is a function call.
inline std::size_t count(std::uint32_t set) {
    set -= set >> 1 & 0x55555555u;
    set = (set & 0x33333333u) + (set >> 2 & 0x33333333u);
    set = (set + (set >> 4)) & 0x0f0f0f0fu;
    return set * 0x01010101u >> 24;
}
inline double first_lane(Doubles x) { return x.a[0]; }

inline Integers zeros() { return {PairOfIntegers{}, PairOfIntegers{}, PairOfIntegers{}, PairOfIntegers{}}; }
inline Integers count_up(Integers n, Mask m) { return {n.a - m.a, n.b - m.b, n.c - m.c, n.d - m.d}; }

template <int Step>
inline Doubles exchange(Doubles x) {
    if constexpr (Step == 4) return {x.c, x.d, x.a, x.b};
    if constexpr (Step == 2) return {x.b, x.a, x.d, x.c};
    const auto swapped = [](PairOfDoubles pair) { return PairOfDoubles{pair[1], pair[0]}; };
    return {swapped(x.a), swapped(x.b), swapped(x.c), swapped(x.d)};
}

inline void store_whole(std::int32_t* p, Doubles x) {
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
inline void compress(double* out, Doubles x, unsigned chosen) {
    double values[lanes];
    store(values, x);
    compress_values(out, values, chosen);
}

struct Positions {
    std::uint32_t at[lanes];
};

inline Positions load_positions(const std::uint32_t* p) { return {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}}; }
inline Positions load_positions(const std::uint16_t* p) { return {{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}}; }
inline Doubles gather(const double* from, Positions x) {
    const double values[lanes] = {from[x.at[0]], from[x.at[1]], from[x.at[2]], from[x.at[3]],
                                  from[x.at[4]], from[x.at[5]], from[x.at[6]], from[x.at[7]]};
    return load(values);
}
inline Positions positions_from(std::uint32_t first) {
    return {{first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7}};
}
inline Positions broadcast_position(std::uint32_t a) { return {{a, a, a, a, a, a, a, a}}; }
inline void store(std::uint32_t* p, Positions x) { __builtin_memcpy(p, x.at, sizeof x.at); }
inline Positions octave_steps(Doubles x, Positions shift, Positions zero) {
    double values[lanes];
    store(values, x);
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto bits = __builtin_bit_cast(std::int64_t, 1.0 + __builtin_fabs(values[l]));
        const std::int32_t steps = (static_cast<std::int32_t>(bits >> 32) - upper_half_of_1) >> shift.at[l];
        zero.at[l] += static_cast<std::uint32_t>(__builtin_signbit(values[l]) ? -1 - steps : steps);
    }
    return zero;
}
inline void compress(std::uint32_t* out, Positions x, unsigned chosen) { compress_values(out, x.at, chosen); }

inline std::size_t count_between(const std::uint32_t* values, std::size_t n, std::uint32_t low, std::uint32_t span) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found += values[i] - low < span;
    return found;
}

inline std::size_t count_between(const std::uint16_t* values, std::size_t n, std::uint16_t low, std::uint16_t span) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found += static_cast<std::uint16_t>(values[i] - low) < span;
    return found;
}

typedef std::uint16_t EightShorts __attribute__((vector_size(16)));
typedef std::int16_t EightTruths __attribute__((vector_size(16)));
using Shorts = FourPairs<EightShorts>;
using ShortMask = FourPairs<EightTruths>;  // a lane is -1 or 0

inline Shorts load_shorts(const std::uint16_t* p) {
    Shorts loaded;
    __builtin_memcpy(&loaded.a, p, sizeof loaded.a);
    __builtin_memcpy(&loaded.b, p + 8, sizeof loaded.b);
    __builtin_memcpy(&loaded.c, p + 16, sizeof loaded.c);
    __builtin_memcpy(&loaded.d, p + 24, sizeof loaded.d);
    return loaded;
}
inline Shorts broadcast_short(std::uint16_t a) {
    const EightShorts eight = {a, a, a, a, a, a, a, a};
    return {eight, eight, eight, eight};
}
inline Shorts subtract(Shorts x, Shorts y) { return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d}; }
inline ShortMask at_most(Shorts x, Shorts y) { return {x.a <= y.a, x.b <= y.b, x.c <= y.c, x.d <= y.d}; }
inline ShortMask equal(Shorts x, Shorts y) { return {x.a == y.a, x.b == y.b, x.c == y.c, x.d == y.d}; }
inline ShortMask both(ShortMask m, ShortMask n) { return {m.a & n.a, m.b & n.b, m.c & n.c, m.d & n.d}; }
inline ShortMask either(ShortMask m, ShortMask n) { return {m.a | n.a, m.b | n.b, m.c | n.c, m.d | n.d}; }
inline Shorts count_up(Shorts x, ShortMask m) {
    const auto up = [](EightShorts eight, EightTruths more) { return eight - reinterpret_cast<EightShorts>(more); };
    return {up(x.a, m.a), up(x.b, m.b), up(x.c, m.c), up(x.d, m.d)};
}
inline bool any(ShortMask m) {
    const auto either = reinterpret_cast<PairOfIntegers>((m.a | m.b) | (m.c | m.d));
    return (either[0] | either[1]) != 0;
}
inline std::uint32_t bits(ShortMask m) {
    const EightTruths eight[] = {m.a, m.b, m.c, m.d};
    std::uint32_t chosen = 0;
    for (std::size_t i = 0; i < 32; ++i) chosen |= std::uint32_t{eight[i / 8][i % 8] != 0} << i;
    return chosen;
}

inline std::uint32_t between(const std::uint16_t* values, std::uint16_t low, std::uint16_t span) {
    const Shorts most = broadcast_short(static_cast<std::uint16_t>(span - 1));
    return bits(at_most(subtract(load_shorts(values), broadcast_short(low)), most));
}

// One word at a time: these vectors have no product of twice the width.
using Words = std::uint64_t;
inline constexpr std::size_t word_lanes = 1;

inline Words broadcast_word(std::uint32_t a) { return a; }
inline Words words_from(std::uint32_t first) { return first; }
inline Words product(Words a, Words b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
inline Words upper_half(Words a) { return a >> 32; }
inline Words exclusive_or(Words a, Words b, Words c) { return a ^ b ^ c; }
inline void store_in_turn(std::uint32_t* p, Words a, Words b, Words c, Words d) {
    p[0] = static_cast<std::uint32_t>(a);
    p[1] = static_cast<std::uint32_t>(b);
    p[2] = static_cast<std::uint32_t>(c);
    p[3] = static_cast<std::uint32_t>(d);
}

}  // namespace knnmi::KNNMI_ISA
