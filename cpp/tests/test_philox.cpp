#include <array>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "kernels/kernels.hpp"
#include "philox.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

using Block = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

std::vector<Block> philox(const Kernels& set, const Block& counter, const Key& key) {
    std::vector<std::uint32_t> words(4 * set.philox_blocks);
    set.philox(counter.data(), key.data(), words.data());
    std::vector<Block> blocks(set.philox_blocks);
    for (std::size_t i = 0; i < words.size(); ++i) blocks[i / 4][i % 4] = words[i];
    return blocks;
}

Block philox_block(const Kernels& set, const Block& counter, const Key& key) {
    return philox(set, counter, key).front();
}

}  // namespace

// The vectors published with the authors' own library, Random123 (file kat_vectors).
TEST(known_answers) {
    for (const Kernels* const set : usable_kernels()) {
        CHECK((philox_block(*set, {0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
        CHECK((philox_block(*set, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
               Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
        CHECK((philox_block(*set, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
               Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    }
}

// Also where the counter passes 2^32.
TEST(each_block_is_that_of_its_counter) {
    const Key key{0xa4093822, 0x299f31d0};
    for (const Kernels* const set : usable_kernels())
        for (std::uint32_t first = 0xfffffff0; first != 0; ++first) {
            std::uint32_t counter = first;
            for (const Block& block : philox(*set, {first, 7, 8, 9}, key))
                CHECK(block == philox_block(*set, {counter++, 7, 8, 9}, key));
        }
}

TEST(words_are_those_of_the_counter) {
    RandomWords words(0, 0, 0);
    CHECK(words.next() == 0x6627e8d5);
    CHECK(words.next() == 0xe169c58d);
    CHECK(words.next() == 0xbc57ac4c);
    CHECK(words.next() == 0x9b00dbd8);

    for (const Kernels* const set : usable_kernels()) {
        RandomWords other(0x0123456789abcdef, 0xfedcba9876543210, 7);
        for (std::uint32_t block = 0; block < 100; ++block)  // several times as many as are made at a time
            for (const std::uint32_t word :
                 philox_block(*set, {block, 7, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567}))
                CHECK(other.next() == word);
    }
}

TEST(bounded_draws_are_uniform) {
    RandomWords words(1, 2, 3);
    constexpr std::uint32_t bound = 7;
    constexpr double draws = 70000;
    std::vector<double> counts(bound);
    for (int i = 0; i < draws; ++i) ++counts[words.below(bound)];
    double chi_square = 0.0;
    for (const double count : counts) chi_square += std::pow(count - draws / bound, 2) / (draws / bound);
    CHECK(chi_square < 22.46);  // 99.9 % of the distribution with 6 degrees of freedom
}

// 2^32 is not a multiple of 3 * 2^30: without rejection the lower two thirds would come twice as often as the others.
TEST(large_bounds_are_unbiased) {
    RandomWords words(4, 5, 6);
    constexpr std::uint32_t third = 1u << 30;
    constexpr int draws = 30000;
    int counts[3] = {};
    for (int i = 0; i < draws; ++i) ++counts[words.below(3 * third) % 3];
    for (const int count : counts) CHECK(std::abs(count - draws / 3) < 3.3 * std::sqrt(draws * 2.0 / 9.0));
}

TEST(a_bound_of_one_gives_zero) {
    RandomWords words(1, 1, 1);
    for (int i = 0; i < 10; ++i) CHECK(words.below(1) == 0);
}

int main() { return run_tests(); }
