#include <algorithm>
#include <stdexcept>

#include "check.hpp"
#include "data_families.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/permutation_test.hpp"

using namespace knnmi;
using namespace knnmi::test;

TEST(equals_the_test_written_out) {
    for (const std::size_t dz : {0u, 2u}) {
        const Sample sample = rounded(80, 4 + dz, 1);
        const Points x = sample.view(0, 2), y = sample.view(2, 2), z = sample.view(4, dz);
        const double observed = conditional_mutual_information(x, y, z, 3);
        int at_least = 0;
        for (std::uint32_t t = 0; t < 50; ++t) {
            const std::vector<std::uint32_t> rows =
                permuted_rows(Points::none(80), {.count = 1, .seed = 7, .stream = 8}, t);
            Sample permuted{80, 2, std::vector<double>(160)};
            for (std::size_t i = 0; i < 80; ++i) {
                for (std::size_t j = 0; j < 2; ++j) permuted(i, j) = y(rows[i], j);
            }
            at_least += conditional_mutual_information(x, permuted.all(), z, 3) >= observed;
        }
        const PermutationResult result = permutation_test(x, y, z, 3, {.count = 50, .seed = 7, .stream = 8});
        CHECK(result.statistic == observed);
        CHECK(result.at_least == at_least);
        CHECK(result.permutations == 50);
    }
}

TEST(ties_count) {
    const Sample sample = constant_column(60, 2, 2);
    const PermutationResult result =
        permutation_test(sample.view(1, 1), sample.view(0, 1), sample.view(0, 0), 3, {.count = 19});
    CHECK((result == PermutationResult{0.0, 19, 19, 1.0}));
}

TEST(a_copy_is_never_reached) {
    const Sample sample = gaussian(50, 1, 3);
    const PermutationResult result = permutation_test(sample.all(), sample.all(), sample.view(0, 0), 3, {.count = 19});
    CHECK(result.at_least == 0);
    CHECK(result.p_value() == 0.05);
}

TEST(same_for_any_engine_and_number_of_threads) {
    for (const Family& family : data_families) {
        for (const std::size_t dz : {0u, 1u, 3u}) {
            const Sample sample = family.make(40, 2 + dz, 4);
            const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, dz);
            for (const int neighbors : {0, 4}) {
                const Permutations test{.count = 20, .seed = 5, .neighbors = neighbors};
                const PermutationResult expected = permutation_test(x, y, z, 3, test, {}, {.threads = 1});
                for (const Engine engine : {Engine::tree, Engine::single, Engine::batch}) {
                    for (const int threads : {1, 2, 4}) {
                        CHECK(permutation_test(x, y, z, 3, test, {}, {.engine = engine, .threads = threads}) ==
                              expected);
                    }
                }
            }
        }
    }
}

// From clear independence to clear dependence, and levels at which one permutation decides.
TEST(early_stop_keeps_the_decision) {
    bool stopped = false;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Sample sample = gaussian(60, 2, seed);
        for (std::size_t i = 0; i < 60; ++i) sample(i, 1) += 0.2 * static_cast<double>(seed) * sample(i, 0);
        const Points x = sample.view(0, 1), y = sample.view(1, 1), none = sample.view(0, 0);
        for (const double alpha : {0.001, 0.05, 0.5}) {
            const Permutations test{.count = 100, .seed = seed};
            const PermutationResult all = permutation_test(x, y, none, 3, test);
            const PermutationResult early = permutation_test(x, y, none, 3, test, {StopWhen::certain, alpha});
            CHECK((early.p_value() < alpha) == (all.p_value() < alpha));
            CHECK(early.statistic == all.statistic);
            for (const int threads : {1, 3}) {
                CHECK(permutation_test(x, y, none, 3, test, {StopWhen::certain, alpha},
                                       {.engine = Engine::tree, .threads = threads}) == early);
            }
            stopped = stopped || early.permutations < 100;
        }
    }
    CHECK(stopped);
}

// The sequential rule is a matter of the counts alone, and so are its looks.
TEST(sequential_stop_is_the_same_for_any_engine_and_number_of_threads) {
    for (const double slope : {0.0, 0.4, 1.5}) {
        Sample sample = gaussian(80, 4, 21);
        for (std::size_t i = 0; i < 80; ++i) sample(i, 1) += slope * sample(i, 0);
        const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 2);
        const Stopping sequential{StopWhen::sequential, 0.05};
        const PermutationResult expected = permutation_test(x, y, z, 3, {}, sequential, {.threads = 1});
        CHECK(expected.permutations == 79 || expected.permutations == 143 || expected.permutations == 200);
        CHECK(slope != 1.5 || (expected.permutations < 100 && expected.p_value() < 0.05));
        for (const Engine engine : {Engine::tree, Engine::single, Engine::batch})
            for (const int threads : {1, 3})
                CHECK(permutation_test(x, y, z, 3, {}, sequential, {.engine = engine, .threads = threads}) == expected);
    }
}

// More permutations than are made at a time, both nulls; and rows that are drawn in parts.
TEST(permuted_statistics_are_what_the_test_counts) {
    const Sample sample = rounded(50, 4, 11);
    const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 2);
    for (const int neighbors : {0, 6}) {
        const Permutations test{.count = 300, .seed = 3, .stream = 4, .neighbors = neighbors};
        const PermutedStatistics found = permuted_statistics(x, y, z, 3, test);
        const PermutationResult counted = permutation_test(x, y, z, 3, test);
        CHECK(found.permuted.size() == 300);
        CHECK(found.statistic == counted.statistic);
        CHECK(std::count_if(found.permuted.begin(), found.permuted.end(),
                            [&](double value) { return value >= found.statistic; }) == counted.at_least);
        const std::vector<std::uint32_t> rows = permuted_rows(z, test);
        for (const std::uint32_t t : {0u, 254u, 255u, 299u}) {
            Sample permuted{50, 1, std::vector<double>(50)};
            for (std::size_t i = 0; i < 50; ++i) permuted(i, 0) = y(rows[t * 50 + i], 0);
            CHECK(found.permuted[t] == conditional_mutual_information(x, permuted.all(), z, 3));
        }
        const std::vector<std::uint32_t> part =
            permuted_rows(z, {.count = 10, .seed = 3, .stream = 4, .neighbors = neighbors}, 290);
        CHECK(std::equal(part.begin(), part.end(), rows.end() - 500));
    }
}

// Without z the column with fewer values is moved, whichever of the two it is.
TEST(permuted_statistics_without_z) {
    const std::size_t n = 50;
    Sample sample = gaussian(n, 2, 12);
    for (std::size_t i = 0; i < n; ++i) sample(i, 0) = sample(i, 0) > 0.0 ? 1.0 : 0.0;
    std::vector<std::uint32_t> groups(n);
    for (std::size_t i = 0; i < n; ++i) groups[i] = static_cast<std::uint32_t>(i % 7);
    const Permutations plain{.count = 20, .seed = 3}, within{.count = 20, .seed = 3, .groups = groups},
        whole{.count = 20, .seed = 3, .groups = groups, .whole_groups = true},
        blocks{.count = 20, .seed = 3, .block_length = 6};
    for (const Permutations& test : {plain, within, whole, blocks})
        for (const std::size_t first : {0u, 1u}) {
            const Points x = sample.view(first, 1), y = sample.view(1 - first, 1), z = Points::none(n);
            const PermutedStatistics found = permuted_statistics(x, y, z, {3, Estimator::mixed}, test);
            const std::vector<std::uint32_t> rows = permuted_rows(z, test);
            for (std::size_t t = 0; t < 20; ++t) {
                Sample permuted{n, 1, std::vector<double>(n)};
                for (std::size_t i = 0; i < n; ++i) permuted(i, 0) = y(rows[t * n + i], 0);
                CHECK(found.permuted[t] == conditional_mutual_information(x, permuted.all(), z, {3, Estimator::mixed}));
            }
        }
}

TEST(seed_and_stream_matter) {
    const Sample sample = gaussian(60, 2, 6);
    const auto at_least = [&](std::uint64_t seed, std::uint64_t stream) {
        return permutation_test(sample.view(0, 1), sample.view(1, 1), sample.view(0, 0), 3,
                                {.count = 2000, .seed = seed, .stream = stream})
            .at_least;
    };
    CHECK(at_least(1, 1) == at_least(1, 1));
    CHECK(at_least(1, 1) != at_least(2, 1));
    CHECK(at_least(1, 1) != at_least(1, 2));
}

TEST(local_null_without_z_is_the_global_one) {
    const Sample sample = gaussian(60, 2, 7);
    const Points x = sample.view(0, 1), y = sample.view(1, 1), none = sample.view(0, 0);
    CHECK(permutation_test(x, y, none, 3, {.neighbors = 5}) == permutation_test(x, y, none, 3, {.neighbors = 0}));
}

// x and y share nothing but a strong z: permuting y over all rows takes that away and finds them dependent at k = 20,
// permuting it among neighbours in z does not.
TEST(local_null_keeps_the_dependence_on_z) {
    int global = 0, local = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Sample sample = gaussian(200, 3, 100 + seed);
        std::mt19937_64 generator(seed);
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < 200; ++i) {
            const double z = normal(generator);
            sample(i, 0) = 2 * z + normal(generator);
            sample(i, 1) = 2 * z + normal(generator);
            sample(i, 2) = z;
        }
        const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 1);
        Permutations test{.count = 99, .seed = seed};
        global += permutation_test(x, y, z, 20, test).p_value() < 0.05;
        test.neighbors = 7;
        local += permutation_test(x, y, z, 20, test).p_value() < 0.05;
    }
    CHECK(global >= 15);
    CHECK(local <= 4);
}

TEST(parameters_out_of_range_are_errors) {
    const Sample sample = gaussian(30, 2, 8);
    const auto run = [&](const Permutations& test, const Stopping& stopping = {}) {
        return permutation_test(sample.view(0, 1), sample.view(1, 1), sample.view(0, 0), 3, test, stopping);
    };
    CHECK_THROWS(std::invalid_argument, run({.count = 0}));
    CHECK_THROWS(std::invalid_argument, run({.neighbors = -1}));
    CHECK_THROWS(std::invalid_argument, run({}, {StopWhen::certain, 0.0}));
    CHECK_THROWS(std::invalid_argument, run({}, {StopWhen::sequential, 1.0}));
    CHECK_THROWS(std::invalid_argument, run({.count = 10'001}, {StopWhen::sequential, 0.05}));
}

int main() { return run_tests(); }
