#include "philox.hpp"

namespace knnmi {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

RandomWords::RandomWords(std::uint64_t seed, std::uint64_t stream, std::uint32_t index)
    : key_{low(seed), high(seed)}, counter_{0, index, low(stream), high(stream)} {}

std::uint32_t RandomWords::next() {
    if (used_ == block_.size()) {
        block_ = philox(counter_, key_);
        ++counter_[0];
        used_ = 0;
    }
    return block_[used_++];
}

std::uint32_t RandomWords::below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (low(product) < bound) {
        const std::uint32_t threshold = -bound % bound;  // 2^32 modulo bound
        while (low(product) < threshold) product = std::uint64_t{next()} * bound;
    }
    return high(product);
}

}  // namespace knnmi
