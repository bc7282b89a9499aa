#include <cmath>
#include <vector>

#include "check.hpp"
#include "philox.hpp"

using namespace knnmi;
using namespace knnmi::test;

// The vectors published with the authors' own library, Random123 (file kat_vectors).
TEST(known_answers) {
    CHECK((philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    CHECK((philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
           PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
           PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(words_are_those_of_the_counter) {
    RandomWords words(0, 0, 0);
    CHECK(words.next() == 0x6627e8d5);
    CHECK(words.next() == 0xe169c58d);
    CHECK(words.next() == 0xbc57ac4c);
    CHECK(words.next() == 0x9b00dbd8);
    CHECK(words.next() == philox({1, 0, 0, 0}, {0, 0})[0]);

    RandomWords other(0x0123456789abcdef, 0xfedcba9876543210, 7);
    CHECK(other.next() == philox({0, 7, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567})[0]);
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
