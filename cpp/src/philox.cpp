#include "philox.hpp"

#include <tuple>

#include "kernels/kernels.hpp"

namespace knnmi {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

RandomWords::RandomWords(std::uint64_t seed, std::uint64_t stream, std::uint32_t index)
    : key_{low(seed), high(seed)}, counter_{0, index, low(stream), high(stream)} {}

void RandomWords::refill() {
    static_assert(std::tuple_size_v<decltype(words_)> >= 4 * most_philox_blocks);
    const Kernels& set = kernels();
    set.philox(counter_.data(), key_.data(), words_.data());
    counter_[0] += static_cast<std::uint32_t>(set.philox_blocks);
    made_ = 4 * set.philox_blocks;
    used_ = 0;
}

}  // namespace knnmi
