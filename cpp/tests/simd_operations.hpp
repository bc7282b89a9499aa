// Every operation of simd/simd.hpp against the same written out for one lane after another. Included by
// simd_<instruction set>.cpp, each compiled for its set; so, as in kernels, nothing here is from the standard library.
#pragma once

#include "simd/simd.hpp"

namespace knnmi::KNNMI_ISA {

// What does not hold, or null.
#define REQUIRE(condition) \
    if (!(condition)) return #condition
#define REQUIRE_ALL(check) \
    if (const char* const failure = check) return failure

inline std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline bool same(double a, double b) { return bits_of(a) == bits_of(b) || (a != a && b != b); }

inline bool same(Doubles found, const double* expected) {
    double values[lanes];
    store(values, found);
    for (std::size_t l = 0; l < lanes; ++l)
        if (!same(values[l], expected[l])) return false;
    return true;
}

template <class OfLanes, class OfOne>
inline bool same_by_lane(const double* a, const double* b, const OfLanes& of_lanes, const OfOne& of_one) {
    double expected[lanes];
    for (std::size_t l = 0; l < lanes; ++l) expected[l] = of_one(a[l], b[l]);
    return same(of_lanes(load(a), load(b)), expected);
}

inline const char* arithmetic(const double* a, const double* b) {
    const auto holds = [&](const auto& of_lanes, const auto& of_one) { return same_by_lane(a, b, of_lanes, of_one); };
    REQUIRE(holds([](Doubles p, Doubles q) { return add(p, q); }, [](double p, double q) { return p + q; }));
    REQUIRE(holds([](Doubles p, Doubles q) { return subtract(p, q); }, [](double p, double q) { return p - q; }));
    REQUIRE(holds([](Doubles p, Doubles q) { return multiply(p, q); }, [](double p, double q) { return p * q; }));
    REQUIRE(holds([](Doubles p, Doubles q) { return min(p, q); }, [](double p, double q) { return p < q ? p : q; }));
    REQUIRE(holds([](Doubles p, Doubles q) { return max(p, q); }, [](double p, double q) { return p > q ? p : q; }));
    REQUIRE(holds([](Doubles p, Doubles) { return absolute(p); }, [](double p, double) { return __builtin_fabs(p); }));
    REQUIRE(holds([](Doubles p, Doubles q) { return distance(p, q); },
                  [](double p, double q) { return __builtin_fabs(p - q); }));
    return nullptr;
}

// Of numbers only, the first not negative.
inline const char* larger_ones(const double* a, const double* b) {
    double p[lanes], q[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
        p[l] = a[l] == a[l] ? __builtin_fabs(a[l]) : 0.0;
        q[l] = b[l] == b[l] ? b[l] : 0.0;
    }
    REQUIRE(same_by_lane(
        p, q, [](Doubles x, Doubles y) { return larger(x, y); },
        [](double x, double y) { return x > __builtin_fabs(y) ? x : __builtin_fabs(y); }));
    return nullptr;
}

// Of numbers only, by halving what is above an octave.
inline const char* octaves(const double* a) {
    double numbers[lanes];
    std::uint32_t shifts[lanes], zeros[lanes], found[lanes];
    for (std::uint32_t l = 0; l < lanes; ++l) {
        numbers[l] = a[l] == a[l] ? a[l] : -3.0;
        shifts[l] = 1 + 4 * l;
        zeros[l] = 1000 * l;
    }
    store(found, octave_steps(load(numbers), load_positions(shifts), load_positions(zeros)));
    for (std::size_t l = 0; l < lanes; ++l) {
        double from_1 = 1.0 + __builtin_fabs(numbers[l]);
        std::uint32_t octave = 0;
        for (; from_1 >= 2.0 && octave < 1024; ++octave) from_1 /= 2.0;
        const auto part = octave == 1024 ? 0u : static_cast<std::uint32_t>(0x1p20 * (from_1 - 1.0));
        const std::uint32_t steps = ((octave << 20) + part) >> shifts[l];
        REQUIRE(found[l] == (__builtin_signbit(numbers[l]) ? zeros[l] - 1 - steps : zeros[l] + steps));
    }
    return nullptr;
}

inline const char* mask(Mask found, unsigned expected) {
    REQUIRE(bits(found) == expected);
    REQUIRE(any(found) == (expected != 0));
    std::int64_t counts[lanes];
    store(counts, count_up(count_up(zeros(), found), found));
    for (std::size_t l = 0; l < lanes; ++l) REQUIRE(counts[l] == (expected >> l & 1u ? 2 : 0));
    return nullptr;
}

inline const char* comparisons(const double* a, const double* b) {
    unsigned smaller = 0, no_larger = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        smaller |= a[l] < b[l] ? 1u << l : 0u;
        no_larger |= a[l] <= b[l] ? 1u << l : 0u;
    }
    REQUIRE_ALL(mask(less(load(a), load(b)), smaller));
    REQUIRE_ALL(mask(less_equal(load(a), load(b)), no_larger));
    return nullptr;
}

template <int Step>
inline bool exchanges(const double* a) {
    double expected[lanes];
    for (std::size_t l = 0; l < lanes; ++l) expected[l] = a[l ^ Step];
    return same(exchange<Step>(load(a)), expected);
}

inline const char* moves(const double* a) {
    REQUIRE(exchanges<4>(a));
    REQUIRE(exchanges<2>(a));
    REQUIRE(exchanges<1>(a));
    REQUIRE(same(first_lane(load(a)), a[0]));
    const std::uint32_t from[lanes] = {7, 0, 3, 3, 1, 6, 2, 5};
    const double gathered[lanes] = {a[7], a[0], a[3], a[3], a[1], a[6], a[2], a[5]};
    REQUIRE(same(gather(a, load_positions(from)), gathered));
    const std::uint16_t short_from[lanes] = {7, 0, 3, 3, 1, 6, 2, 5};
    REQUIRE(same(gather(a, load_positions(short_from)), gathered));
    const double equal[lanes] = {a[3], a[3], a[3], a[3], a[3], a[3], a[3], a[3]};
    REQUIRE(same(broadcast(a[3]), equal));
    for (unsigned chosen = 0; chosen < 256; ++chosen) {
        double values[lanes];
        std::uint32_t positions[lanes];
        compress(values, load(a), chosen);
        compress(positions, positions_from(40), chosen);
        std::size_t place = 0;
        for (std::uint32_t l = 0; l < lanes; ++l) {
            if ((chosen >> l & 1u) == 0) continue;
            REQUIRE(same(values[place], a[l]));
            REQUIRE(positions[place] == 40 + l);
            ++place;
        }
        REQUIRE(count(chosen) == place);
        double blended[lanes];
        for (std::size_t l = 0; l < lanes; ++l) blended[l] = (chosen >> l & 1u) != 0 ? a[l] : a[l ^ 1];
        REQUIRE(same(blend(chosen, load(a), exchange<1>(load(a))), blended));
    }
    return nullptr;
}

inline const char* whole_numbers() {
    const double fractions[lanes] = {0.0, 0.9, 1.0, 7.5, -0.9, -3.1, 2147483647.0, -2147483648.0};
    const std::int32_t rounded[lanes] = {0, 0, 1, 7, 0, -3, 2147483647, -2147483647 - 1};
    std::int32_t whole[lanes];
    store_whole(whole, load(fractions));
    const std::uint32_t numbers[lanes] = {9, 8, 7, 6, 5, 4, 3, 4294967295u};
    std::uint32_t copied[lanes], stored[lanes], equal[lanes];
    compress(copied, load_positions(numbers), 255);
    store(stored, load_positions(numbers));
    store(equal, broadcast_position(numbers[7]));
    for (std::size_t l = 0; l < lanes; ++l) {
        REQUIRE(whole[l] == rounded[l]);
        REQUIRE(copied[l] == numbers[l]);
        REQUIRE(stored[l] == numbers[l]);
        REQUIRE(equal[l] == numbers[7]);
    }
    return nullptr;
}

// Of every length, and from any place on.
inline const char* counts() {
    std::uint32_t values[140], state = 1;
    const auto draw = [&](std::uint32_t below) {
        return (state = state * 1664525u + 1013904223u) % 65536u * below >> 16;
    };
    for (std::uint32_t& value : values) value = draw(50);
    for (std::size_t n = 0; n <= 139; ++n)
        for (int i = 0; i < 20; ++i) {
            const std::uint32_t low = draw(50), span = draw(60);
            std::size_t expected = 0;
            for (std::size_t j = 1; j <= n; ++j) expected += values[j] >= low && values[j] < low + span;
            REQUIRE(count_between(values + 1, n, low, span) == expected);
        }
    std::uint16_t numbers[1 + 200 + 64];
    for (std::uint16_t& number : numbers) number = static_cast<std::uint16_t>(draw(65536));
    for (std::size_t n = 0; n <= 200; ++n)
        for (int i = 0; i < 5; ++i) {
            const auto low = static_cast<std::uint16_t>(draw(65536)), span = static_cast<std::uint16_t>(draw(65536));
            std::size_t expected = 0;
            for (std::size_t j = 1; j <= n; ++j) expected += static_cast<std::uint16_t>(numbers[j] - low) < span;
            REQUIRE(count_between(numbers + 1, n, low, span) == expected);
        }
    for (int i = 0; i < 40; ++i) {
        const std::uint16_t *const begin = numbers + draw(32), *const end = numbers + 40 + draw(32),
                                   *const needed = numbers + 80 + draw(32);
        const std::uint32_t wide = as_wide(begin, end, needed);
        for (std::size_t j = 0; j < 32; ++j)
            REQUIRE((wide >> j & 1u) == (static_cast<std::uint16_t>(end[j] - begin[j]) >= needed[j]));
    }
    std::uint16_t places[33];
    for (int i = 0; i < 200; ++i) {
        for (std::uint16_t& place : places) place = static_cast<std::uint16_t>(draw(65536));
        const auto low = static_cast<std::uint16_t>(draw(65536)), span = static_cast<std::uint16_t>(1 + draw(65535));
        const std::uint32_t found = between(places + 1, low, span);
        std::size_t chosen = 0;
        for (std::size_t j = 0; j < 32; ++j) {
            const bool inside = static_cast<std::uint16_t>(places[j + 1] - low) < span;
            REQUIRE((found >> j & 1u) == inside);
            chosen += inside;
        }
        REQUIRE(count(found) == chosen);
    }
    return nullptr;
}

inline const char* shorts() {
    std::uint32_t state = 2;
    const auto draw = [&] { return static_cast<std::uint16_t>((state = state * 1664525u + 1013904223u) >> 16); };
    for (int i = 0; i < 100; ++i) {
        std::uint16_t p[32], q[32], counted[32];
        for (std::size_t l = 0; l < 32; ++l) {
            p[l] = draw();
            q[l] = i % 2 == 0 ? draw() : static_cast<std::uint16_t>(p[l] + draw() % 3 - 1);
        }
        const std::uint16_t same_value = p[i % 32];
        const Shorts a = load_shorts(p), b = load_shorts(q), all = broadcast_short(same_value);
        const ShortMask least = at_most(a, b), most = at_most(b, a), alike = equal(a, all);
        store(counted, count_up(subtract(a, b), least));
        REQUIRE(any(alike) && any(least) == (bits(least) != 0));
        REQUIRE(!any(both(equal(a, b), equal(a, subtract(b, broadcast_short(1))))));
        for (std::size_t l = 0; l < 32; ++l) {
            REQUIRE((bits(least) >> l & 1u) == (p[l] <= q[l]));
            REQUIRE((bits(both(least, most)) >> l & 1u) == (p[l] == q[l]));
            REQUIRE((bits(either(least, alike)) >> l & 1u) == (p[l] <= q[l] || p[l] == same_value));
            REQUIRE(counted[l] == static_cast<std::uint16_t>(p[l] - q[l] + (p[l] <= q[l])));
        }
    }
    return nullptr;
}

// Lane by lane as 64-bit integers, whatever is in the upper halves.
inline const char* words() {
    constexpr std::uint32_t near_end = 0xfffffffd, x = 0x9e3779b9, y = 0xcafef00d;
    const Words factors = words_from(near_end);
    const Words products = product(factors, broadcast_word(x)), squares = product(products, products);
    std::uint32_t found[4 * word_lanes];
    store_in_turn(found, factors, products, upper_half(products), exclusive_or(products, squares, broadcast_word(y)));
    for (std::uint32_t l = 0; l < word_lanes; ++l) {
        const std::uint32_t factor = near_end + l;
        const std::uint64_t whole = std::uint64_t{factor} * x;
        const auto low = static_cast<std::uint32_t>(whole);
        REQUIRE(found[4 * l] == factor);
        REQUIRE(found[4 * l + 1] == low);
        REQUIRE(found[4 * l + 2] == whole >> 32);
        REQUIRE(found[4 * l + 3] == (low ^ low * low ^ y));
    }
    return nullptr;
}

// `drawn` are vectors of eight values.
inline const char* check_operations(const double* drawn, std::size_t vectors) {
    REQUIRE_ALL(whole_numbers());
    REQUIRE_ALL(counts());
    REQUIRE_ALL(shorts());
    REQUIRE_ALL(words());
    for (std::size_t i = 0; i < vectors; ++i) {
        REQUIRE_ALL(moves(drawn + i * lanes));
        REQUIRE_ALL(octaves(drawn + i * lanes));
        for (std::size_t j = 0; j < vectors; ++j) {
            REQUIRE_ALL(arithmetic(drawn + i * lanes, drawn + j * lanes));
            REQUIRE_ALL(larger_ones(drawn + i * lanes, drawn + j * lanes));
            REQUIRE_ALL(comparisons(drawn + i * lanes, drawn + j * lanes));
        }
    }
    return nullptr;
}

}  // namespace knnmi::KNNMI_ISA
