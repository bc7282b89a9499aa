// Philox4x32-10, the counter-based generator of Salmon et al. 2011 (doi:10.1145/2063384.2063405).
//
// A word depends on the key and the counter alone, so a permutation comes out the same in any thread, process and
// order.
#pragma once

#include <array>
#include <cstdint>

namespace knnmi {

using PhiloxBlock = std::array<std::uint32_t, 4>;

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

// The random words of permutation number `index` of test `stream` in a run with `seed`.
class RandomWords {
public:
    RandomWords(std::uint64_t seed, std::uint64_t stream, std::uint32_t index);

    std::uint32_t next();

    // Uniform on 0..bound-1, without bias (Lemire 2019, doi:10.1145/3230636); bound >= 1.
    std::uint32_t below(std::uint32_t bound);

private:
    std::array<std::uint32_t, 2> key_;
    PhiloxBlock counter_;
    PhiloxBlock block_{};
    std::size_t used_ = block_.size();
};

}  // namespace knnmi
