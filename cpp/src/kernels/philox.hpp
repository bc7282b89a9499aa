// Philox4x32-10.
#pragma once

#include "kernels/kernels.hpp"
#include "simd/simd.hpp"

namespace knnmi::KNNMI_ISA {

// As many blocks as a register has lanes.
struct PhiloxBlocks {
    Words c0, c1, c2, c3;

    PhiloxBlocks(const std::uint32_t* counter, std::uint32_t before)
        : c0(words_from(counter[0] + before)),
          c1(broadcast_word(counter[1])),
          c2(broadcast_word(counter[2])),
          c3(broadcast_word(counter[3])) {}

    void round(Words k0, Words k1) {
        const Words a = product(broadcast_word(0xD2511F53u), c0), b = product(broadcast_word(0xCD9E8D57u), c2);
        c0 = exclusive_or(upper_half(b), c1, k0);
        c1 = b;
        c2 = exclusive_or(upper_half(a), c3, k1);
        c3 = a;
    }

    void store(std::uint32_t* to) const { store_in_turn(to, c0, c1, c2, c3); }
};

inline constexpr std::size_t philox_blocks = 2 * word_lanes;
static_assert(philox_blocks <= most_philox_blocks);

inline void philox(const std::uint32_t* counter, const std::uint32_t* key, std::uint32_t* out) {
    PhiloxBlocks first(counter, 0), second(counter, word_lanes);  // in step, as a product takes long
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
        first.round(broadcast_word(k0), broadcast_word(k1));
        second.round(broadcast_word(k0), broadcast_word(k1));
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    first.store(out);
    second.store(out + 4 * word_lanes);
}

}  // namespace knnmi::KNNMI_ISA
