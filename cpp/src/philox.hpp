// Philox4x32-10, the counter-based generator of Salmon et al. 2011 (doi:10.1145/2063384.2063405).
//
// A word depends on the key and the counter alone, so a permutation comes out the same in any thread, process and
// order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace knnmi {

// The random words of permutation number `index` of test `stream` in a run with `seed`.
class RandomWords {
public:
    RandomWords(std::uint64_t seed, std::uint64_t stream, std::uint32_t index);

    std::uint32_t next() {
        if (used_ == made_) refill();
        return words_[used_++];
    }

    // Uniform on 0..bound-1, without bias (Lemire 2019, doi:10.1145/3230636); bound >= 1.
    std::uint32_t below(std::uint32_t bound) {
        std::uint64_t product = std::uint64_t{next()} * bound;
        if (static_cast<std::uint32_t>(product) < bound) {
            const std::uint32_t threshold = -bound % bound;  // 2^32 modulo bound
            while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next()} * bound;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

private:
    void refill();

    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_;
    std::array<std::uint32_t, 64> words_{};  // of which the first made_ hold
    std::size_t made_ = 0, used_ = 0;
};

}  // namespace knnmi
