// Eight doubles at a time: what every instruction set can do. The files beside this one are the only ones with
// intrinsics.
//
// Included by kernels/<instruction set>.cpp, which name the set in KNNMI_ISA and are compiled with its flags.
// Everything lives in a namespace of that name, so that no function built for a wider set can be linked into a
// narrower one; for the same reason kernels use nothing from the standard library that has code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace knnmi::KNNMI_ISA {

inline constexpr std::int32_t upper_half_of_1 = 0x3ff00000;

}  // namespace knnmi::KNNMI_ISA

#if defined(KNNMI_ISA_AVX512)
#include "simd/avx512.hpp"
#elif defined(KNNMI_ISA_AVX2)
#include "simd/avx2.hpp"
#else
#include "simd/pairs.hpp"
#endif

namespace knnmi::KNNMI_ISA {

// The contract. Each set defines the types and these functions; one that it lacks, or has with other arguments, does
// not compile or link. Doubles hold eight doubles, Integers eight 64-bit integers, Positions eight 32-bit ones without
// sign, and a Mask one truth value for each lane. Shorts hold 32 numbers of 16 bits without sign, and a ShortMask one
// truth value for each of these.
// `registers` is how many Doubles fit into the registers that there are.
// `most_in_registers` is how many Doubles in a row of insertions are best kept there, as measured.
static_assert(lanes == 8);

// From and to memory of any alignment.
inline Doubles load(const double* from);
inline Positions load_positions(const std::uint32_t* from);
inline Positions load_positions(const std::uint16_t* from);
inline Doubles gather(const double* from, Positions at);  // from[at], below 2^31, in each lane
inline Doubles broadcast(double value);
inline Positions positions_from(std::uint32_t first);  // first, first + 1, ...
inline Positions broadcast_position(std::uint32_t position);
inline Integers zeros();
inline double first_lane(Doubles a);

// Lane by lane, rounded as a single double is.
inline Doubles add(Doubles a, Doubles b);
inline Doubles subtract(Doubles a, Doubles b);
inline Doubles multiply(Doubles a, Doubles b);
inline Doubles absolute(Doubles a);
inline Doubles min(Doubles a, Doubles b);  // b when one of them is not a number, as is so for max
inline Doubles max(Doubles a, Doubles b);
inline Doubles larger(Doubles a, Doubles b);  // of a, at least 0, and the absolute value of b; both are numbers
inline Mask less(Doubles a, Doubles b);       // false when one of them is not a number
inline Mask less_equal(Doubles a, Doubles b);
inline Doubles blend(unsigned chosen, Doubles a, Doubles b);  // a in the chosen lanes, b in the others
inline Integers count_up(Integers a, Mask m);                 // one more in the lanes of m

// Lane l is bit l.
inline unsigned bits(Mask m);
inline std::size_t count(std::uint32_t set);  // how many bits are set

// Steps away from 0, on a scale on which numbers from 1 on have as many in each octave: the upper half of the bits of
// 1 + |a|, less that of 1, over 2^shift. One step more, and downwards, where a is negative. Added to `zero`.
inline Positions octave_steps(Doubles a, Positions shift, Positions zero);

// store(double*, Doubles), store(std::int64_t*, Integers) and store(std::uint32_t*, Positions) write eight values.
// store_whole rounds towards zero; each value must fit.
inline void store_whole(std::int32_t* to, Doubles a);

// Writes the chosen lanes one after another; all eight places may be overwritten.
inline void compress(double* to, Doubles a, unsigned chosen);
inline void compress(std::uint32_t* to, Positions a, unsigned chosen);

// Lane l of the result is lane l ^ Step of a; Step is 1, 2 or 4.
template <int Step>
inline Doubles exchange(Doubles a);

// How many of n values are in [low, low + span).
inline std::size_t count_between(const std::uint32_t* values, std::size_t n, std::uint32_t low, std::uint32_t span);
// The same for shorter numbers, modulo 2^16, of which 64 more can be read.
inline std::size_t count_between(const std::uint16_t* values, std::size_t n, std::uint16_t low, std::uint16_t span);

// Which of 32 values are in [low, low + span), modulo 2^16: bit i is value i. `span` is at least 1.
inline std::uint32_t between(const std::uint16_t* values, std::uint16_t low, std::uint16_t span);

// Each lane for itself; differences are modulo 2^16. store(std::uint16_t*, Shorts) writes all of them.
inline Shorts load_shorts(const std::uint16_t* from);
inline Shorts broadcast_short(std::uint16_t value);
inline Shorts subtract(Shorts a, Shorts b);
inline ShortMask at_most(Shorts a, Shorts b);
inline ShortMask equal(Shorts a, Shorts b);
inline ShortMask both(ShortMask a, ShortMask b);
inline ShortMask either(ShortMask a, ShortMask b);
inline Shorts count_up(Shorts a, ShortMask m);  // one more in the lanes of m
inline bool any(ShortMask m);
inline std::uint32_t bits(ShortMask m);  // lane l is bit l

// Words are word_lanes numbers of 32 bits without sign. Each is the lower half of a lane of 64
// bits, and what the upper half holds is of no account, except to upper_half.
inline Words broadcast_word(std::uint32_t value);
inline Words words_from(std::uint32_t first);  // first, first + 1, ..., modulo 2^32
inline Words product(Words a, Words b);        // in whole lanes
inline Words upper_half(Words a);
inline Words exclusive_or(Words a, Words b, Words c);
// Writes a, b, c and d of the first lane, then those of the next one, and so on.
inline void store_in_turn(std::uint32_t* to, Words a, Words b, Words c, Words d);

// What follows from these.
inline Doubles distance(Doubles a, Doubles b) { return absolute(subtract(a, b)); }
inline bool any(Mask m) { return bits(m) != 0; }

// Which of 32 differences, end[i] - begin[i], are at least needed[i].
inline std::uint32_t as_wide(const std::uint16_t* begin, const std::uint16_t* end, const std::uint16_t* needed) {
    return bits(at_most(load_shorts(needed), subtract(load_shorts(end), load_shorts(begin))));
}

}  // namespace knnmi::KNNMI_ISA
