#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "brute_force.hpp"
#include "check.hpp"
#include "data_families.hpp"
#include "knnmi/permutation_test.hpp"
#include "permutation.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

using Rows = std::vector<std::uint32_t>;

bool is_permutation_of_rows(Rows rows) {
    std::sort(rows.begin(), rows.end());
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        if (rows[i] != i) return false;
    }
    return true;
}

Rows permutation(std::size_t n, std::uint64_t seed, std::uint64_t stream, std::uint32_t index) {
    return permuted_rows(Points::none(n), {.count = 1, .seed = seed, .stream = stream}, index);
}

Rows draw(const LocalPermutations& local, std::size_t n, const RandomWords& random) {
    Rows rows(n);
    local.draw(random, rows);
    return rows;
}

}  // namespace

TEST(every_row_is_used_once) {
    for (const std::size_t n : {2u, 3u, 10u, 1000u}) CHECK(is_permutation_of_rows(permutation(n, 1, 2, 3)));
}

TEST(all_orders_come_equally_often) {
    std::map<Rows, double> counts;
    constexpr std::uint32_t draws = 24000;
    for (std::uint32_t index = 0; index < draws; ++index) ++counts[permutation(4, 11, 12, index)];
    CHECK(counts.size() == 24);
    double chi_square = 0.0;
    for (const auto& [order, count] : counts) chi_square += std::pow(count - draws / 24, 2) / (draws / 24);
    CHECK(chi_square < 49.73);  // 99.9 % of the distribution with 23 degrees of freedom
}

TEST(seed_stream_and_index_each_matter) {
    const Rows one = permutation(50, 1, 1, 1);
    CHECK(one == permutation(50, 1, 1, 1));
    CHECK(one != permutation(50, 2, 1, 1));
    CHECK(one != permutation(50, 1, 2, 1));
    CHECK(one != permutation(50, 1, 1, 2));
    CHECK(one != permutation(50, 1 + (std::uint64_t{1} << 32), 1, 1));
    CHECK(one != permutation(50, 1, 1 + (std::uint64_t{1} << 32), 1));
}

TEST(neighbors_vs_brute_force) {
    constexpr std::size_t n = 120;
    for (const Family& family : data_families) {
        for (const std::size_t d : {1u, 3u}) {
            const Sample sample = family.make(n, d, 5);
            for (const std::size_t m : {1u, 2u, 7u, 120u, 500u}) {
                const LocalPermutations local(sample.all(), static_cast<int>(m), {.threads = 2});
                const std::size_t each = std::min(m, n);
                CHECK(local.neighbors().size() == n * each);
                for (std::size_t i = 0; i < n; ++i) {
                    Rows expected(n);
                    std::iota(expected.begin(), expected.end(), 0u);
                    std::sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
                        const auto key = [&](std::size_t j) {
                            return std::tuple(j != i, max_norm(sample.all(), i, j), (n + j - i) % n);
                        };
                        return key(a) < key(b);
                    });
                    CHECK(std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(each),
                                     local.neighbors().begin() + static_cast<std::ptrdiff_t>(i * each)));
                }
            }
        }
    }
}

// Each row has 10,000 others that are equal to it.
TEST(neighbors_among_very_many_equal_rows) {
    constexpr std::size_t n = 20'000;
    const Sample tied = two_values(n, 1, 8);
    const LocalPermutations local(tied.all(), 10, {.threads = 1});
    for (std::size_t i = 0; i < n; i += 997) {
        for (std::size_t j = 1, other = i; j < 10; ++j) {
            do other = (other + 1) % n;
            while (tied.values[other] != tied.values[i]);
            CHECK(local.neighbors()[10 * i + j] == other);
        }
    }
}

// Most rows have two others of their category in z, all the rest at distance 1: those that follow are next.
TEST(neighbors_beyond_small_categories) {
    constexpr std::size_t n = 9'000, m = 6;
    std::vector<double> z(n);
    for (std::size_t i = 0; i < n; ++i) z[i] = static_cast<double>(i * 7 % (n / 3));
    const unsigned char category = 1;
    const Points points = Points::single_column(z.data(), n).with_categories(&category);
    const LocalPermutations local(points, static_cast<int>(m), {.threads = 1});
    for (std::size_t i = 0; i < n; i += 97) {
        Rows expected{static_cast<std::uint32_t>(i)};
        for (const bool equal : {true, false})
            for (std::size_t after = 1; after < n && expected.size() < m; ++after)
                if ((z[(i + after) % n] == z[i]) == equal)
                    expected.push_back(static_cast<std::uint32_t>((i + after) % n));
        CHECK(std::equal(expected.begin(), expected.end(),
                         local.neighbors().begin() + static_cast<std::ptrdiff_t>(i * m)));
    }
}

TEST(local_draws_come_from_the_neighbors) {
    const Sample sample = gaussian(200, 2, 8);
    const LocalPermutations local(sample.all(), 6, {});
    const Rows drawn = draw(local, 200, RandomWords(1, 2, 3));
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const auto list = local.neighbors().begin() + static_cast<std::ptrdiff_t>(6 * i);
        CHECK(std::find(list, list + 6, drawn[i]) != list + 6);
    }
    CHECK(drawn == draw(local, 200, RandomWords(1, 2, 3)));
    CHECK(drawn != draw(local, 200, RandomWords(1, 2, 4)));
    Rows distinct = drawn;
    std::sort(distinct.begin(), distinct.end());
    const auto used = std::unique(distinct.begin(), distinct.end()) - distinct.begin();
    CHECK(used > 180);  // drawn without regard to each other they would be about 1 - 1/e of 200
}

TEST(swaps_exchange_pairs_of_neighbors) {
    const Sample sample = gaussian(200, 2, 8);
    const LocalPermutations local(sample.all(), 6, {});
    Rows drawn(200);
    local.draw_swaps(RandomWords(1, 2, 3), drawn);
    for (std::uint32_t i = 0; i < drawn.size(); ++i) {
        CHECK(drawn[drawn[i]] == i);
        const auto are_neighbors = [&](std::uint32_t a, std::uint32_t b) {
            const auto list = local.neighbors().begin() + static_cast<std::ptrdiff_t>(6 * a);
            return std::find(list, list + 6, b) != list + 6;
        };
        CHECK(are_neighbors(i, drawn[i]) || are_neighbors(drawn[i], i));
    }
}

// Two rounds of swaps, of which all permutations share the first: without it each is an exchange of pairs.
TEST(swapped_rows_share_a_round) {
    const Sample sample = gaussian(120, 2, 8);
    const Permutations permutations{.count = 5, .seed = 7, .stream = 3, .neighbors = 8};
    const Rows all = swapped_rows(sample.all(), permutations);
    Rows shared(120);
    LocalPermutations(sample.all(), 8, {}).draw_swaps(RandomWords(7, 3, 0xFFFFFFFF), shared);
    for (std::size_t t = 0; t < 5; ++t) {
        Rows own(120);
        for (std::size_t i = 0; i < 120; ++i) own[i] = shared[all[120 * t + i]];
        CHECK(is_permutation_of_rows(own));
        for (std::uint32_t i = 0; i < 120; ++i) CHECK(own[own[i]] == i);
    }
    const Rows later = swapped_rows(sample.all(), {.count = 2, .seed = 7, .stream = 3, .neighbors = 8}, 3);
    CHECK(std::equal(later.begin(), later.end(), all.begin() + 3 * 120));
}

TEST(what_rows_cannot_swap_by_is_an_error) {
    const Sample sample = gaussian(20, 1, 8);
    const std::vector<std::uint32_t> groups(20);
    CHECK_THROWS(std::invalid_argument, swapped_rows(sample.all(), {.count = 2, .neighbors = 0}));
    CHECK_THROWS(std::invalid_argument, swapped_rows(sample.all(), {.count = 2, .neighbors = 3, .groups = groups}));
    CHECK_THROWS(std::invalid_argument, swapped_rows(sample.all(), {.count = 2, .neighbors = 3, .block_length = 5}));
    CHECK_THROWS(std::invalid_argument, swapped_rows(gaussian(1, 1, 8).all(), {.count = 2, .neighbors = 3}));
}

// Where all rows of a group have the whole group as their neighbours, a row that is not yet taken can always be found.
TEST(local_draws_permute_groups_of_equal_z) {
    constexpr std::size_t groups = 25, size = 8;
    Sample sample = gaussian(groups * size, 1, 9);
    for (std::size_t i = 0; i < sample.rows; ++i) sample(i, 0) = static_cast<double>(i % groups);
    const LocalPermutations local(sample.all(), size, {});
    const Rows drawn = draw(local, sample.rows, RandomWords(1, 2, 3));
    CHECK(is_permutation_of_rows(drawn));
    for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(drawn[i] % groups == i % groups);
}

TEST(all_rows_as_neighbors_give_permutations) {
    const Sample sample = gaussian(40, 1, 10);
    const LocalPermutations local(sample.all(), 40, {});
    for (std::uint32_t index = 0; index < 20; ++index)
        CHECK(is_permutation_of_rows(draw(local, 40, RandomWords(1, 1, index))));
}

TEST(rows_stay_within_their_groups) {
    Rows labels(60);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint32_t>(i * i % 7);
    const auto draw = [&](std::uint32_t index) {
        return permuted_rows(Points::none(60), {.count = 1, .seed = 1, .stream = 2, .groups = labels}, index);
    };
    const Rows drawn = draw(3);
    CHECK(is_permutation_of_rows(drawn));
    for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(labels[drawn[i]] == labels[i]);
    CHECK(drawn == draw(3));
    CHECK(drawn != draw(4));
}

TEST(all_orders_within_a_group_come_equally_often) {
    std::map<Rows, double> counts;
    constexpr std::uint32_t draws = 12000;
    const Permutations permutations{.count = 1, .seed = 5, .groups = {0, 1, 0, 1, 0}};  // 3! * 2! orders
    for (std::uint32_t index = 0; index < draws; ++index) {
        ++counts[permuted_rows(Points::none(5), permutations, index)];
    }
    CHECK(counts.size() == 12);
    double chi_square = 0.0;
    for (const auto& [order, count] : counts) chi_square += std::pow(count - draws / 12, 2) / (draws / 12);
    CHECK(chi_square < 31.26);  // 99.9 % of the distribution with 11 degrees of freedom
}

TEST(whole_groups_of_one_size_are_exchanged) {
    constexpr std::uint32_t size = 4, count = 10;
    Rows labels(size * count);
    for (std::uint32_t i = 0; i < labels.size(); ++i) labels[i] = i % count;  // a group's rows are not side by side
    const Rows drawn =
        permuted_rows(Points::none(size * count), {.count = 1, .seed = 1, .groups = labels, .whole_groups = true});
    CHECK(is_permutation_of_rows(drawn));
    for (std::uint32_t i = 0; i < drawn.size(); ++i) {
        CHECK(drawn[i] / count == i / count);                 // in order within the group
        CHECK(labels[drawn[i]] == labels[drawn[i % count]]);  // all from one group
    }
    CHECK(!std::is_sorted(drawn.begin(), drawn.end()));
}

TEST(whole_groups_of_several_sizes_use_every_row_once) {
    const Permutations permutations{.count = 1, .groups = {3, 3, 3, 0, 1, 1, 2, 2, 2, 2}, .whole_groups = true};
    for (std::uint32_t index = 0; index < 20; ++index) {
        CHECK(is_permutation_of_rows(permuted_rows(Points::none(10), permutations, index)));
    }
}

TEST(blocks_keep_most_rows_beside_each_other) {
    for (const std::size_t length : {1u, 7u, 30u, 99u, 100u, 500u}) {
        constexpr std::size_t n = 100;
        const std::size_t blocks = std::max<std::size_t>(2, n / length);
        for (std::uint32_t index = 0; index < 10; ++index) {
            const Rows drawn = permuted_rows(Points::none(n), {.count = 1, .block_length = length}, index);
            CHECK(is_permutation_of_rows(drawn));
            std::size_t cuts = 0;
            for (std::size_t i = 0; i < n; ++i) cuts += drawn[(i + 1) % n] != (drawn[i] + 1) % n;
            CHECK(cuts <= blocks);
        }
    }
}

TEST(blocks_of_whole_seasons_keep_the_time_of_the_season) {
    constexpr std::size_t n = 100, season = 12;
    bool moved = false;
    for (const std::size_t length : {12u, 24u, 96u}) {
        for (std::uint32_t index = 0; index < 10; ++index) {
            const Permutations permutations{.count = 1, .block_length = length, .season = season};
            const Rows drawn = permuted_rows(Points::none(n), permutations, index);
            CHECK(is_permutation_of_rows(drawn));
            for (std::size_t i = 0; i < n; ++i) CHECK(drawn[i] % season == i % season);
            for (std::size_t i = n - n % season; i < n; ++i) CHECK(drawn[i] == i);
            moved |= !std::is_sorted(drawn.begin(), drawn.end());
        }
    }
    CHECK(moved);
    CHECK_THROWS(std::invalid_argument,
                 permuted_rows(Points::none(n), {.count = 1, .block_length = 5, .season = 0}, 0));
    CHECK_THROWS(std::invalid_argument,
                 permuted_rows(Points::none(n), {.count = 1, .block_length = 5, .season = 101}, 0));
    CHECK_THROWS(std::invalid_argument, permuted_rows(Points::none(n), {.count = 1, .season = season}, 0));
    const Sample sample = gaussian(n, 1, 13);
    CHECK_THROWS(std::invalid_argument, permuted_rows(sample.all(), {.count = 1, .neighbors = 3, .season = season}, 0));
    CHECK_THROWS(std::invalid_argument,
                 permuted_rows(sample.all(), {.count = 1, .neighbors = 3, .block_length = 30, .season = season}, 0));
    const Permutations local{.count = 1, .neighbors = 3, .block_length = 24, .season = season};
    const Rows drawn = permuted_rows(sample.all(), local, 0);
    for (std::size_t i = 0; i < n; ++i) CHECK(drawn[i] % season == i % season);
    const std::vector<std::uint32_t> groups(n);
    CHECK_THROWS(std::invalid_argument,
                 permuted_rows(sample.all(), {.count = 1, .groups = groups, .season = season}, 0));
}

TEST(local_neighbors_stay_within_their_groups) {
    constexpr std::size_t n = 90;
    const Sample sample = gaussian(n, 2, 12);
    Rows labels(n);
    for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<std::uint32_t>(i < 2 ? 9 : i % 4);  // one of two rows
    const LocalPermutations local(sample.all(), 5, {}, labels);
    for (std::size_t i = 0; i < n; ++i) {
        Rows expected;
        for (std::uint32_t j = 0; j < n; ++j) {
            if (labels[j] == labels[i]) expected.push_back(j);
        }
        std::sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(a != i, max_norm(sample.all(), i, a)) < std::pair(b != i, max_norm(sample.all(), i, b));
        });
        expected.resize(5, static_cast<std::uint32_t>(i));  // the row itself, where the group has no more
        CHECK(std::equal(expected.begin(), expected.end(),
                         local.neighbors().begin() + static_cast<std::ptrdiff_t>(5 * i)));
    }
}

TEST(local_blocks_take_the_course_of_neighbors) {
    constexpr std::size_t length = 5, blocks = 12, rest = 3;
    Sample z = gaussian(rest + length * blocks, 1, 13);
    for (std::size_t i = 0; i < length * blocks; ++i) {
        z(rest + i, 0) = static_cast<double>(i / length % 4);  // blocks b, b + 4 and b + 8 have one course
    }
    const Rows drawn = permuted_rows(z.all(), {.count = 1, .seed = 1, .neighbors = 3, .block_length = length});
    CHECK(is_permutation_of_rows(drawn));
    for (std::size_t i = 0; i < rest; ++i) CHECK(drawn[i] == i);
    for (std::size_t i = rest; i < drawn.size(); ++i) {
        CHECK((drawn[i] - rest) % length == (i - rest) % length);
        CHECK((drawn[i] - rest) / length % 4 == (i - rest) / length % 4);
    }
    CHECK(!std::is_sorted(drawn.begin(), drawn.end()));
}

int main() { return run_tests(); }
