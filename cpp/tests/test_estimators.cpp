#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "brute_force.hpp"
#include "check.hpp"
#include "data_families.hpp"
#include "fixed_point.hpp"
#include "knnmi/estimators.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool close(double a, double b, double tolerance) { return a == b || std::abs(a - b) <= tolerance; }

double brute_force_entropy(const Points& x, int k) {
    const double n = static_cast<double>(x.rows());
    double sum = 0.0;
    for (std::size_t i = 0; i < x.rows(); ++i) sum += std::log(2 * brute_force_kth_distance(x, i, k));
    return digamma(x.rows()) - digamma(static_cast<std::size_t>(k)) + static_cast<double>(x.columns()) * sum / n;
}

double brute_force_estimate(const Points& x, const Points& y, const Points& z, int k) {
    const NeighborCounts counts = brute_force_counts(x, y, z, k);
    double sum = 0.0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        sum += digamma(counts.xz[i] + 1) + digamma(counts.yz[i] + 1) - digamma(counts.z[i] + 1);
    }
    return digamma(static_cast<std::size_t>(k)) - sum / static_cast<double>(x.rows());
}

}  // namespace

TEST(entropy_vs_brute_force) {
    for (const Family& family : data_families) {
        for (const std::size_t d : {1u, 2u, 5u}) {
            const Sample sample = family.make(200, d, 3);
            const double expected = brute_force_entropy(sample.all(), 4);
            // Twice a distance of about 1e308 overflows in the formula as it is written; its logarithm need not.
            if (std::isfinite(expected) || expected < 0) CHECK(close(entropy(sample.all(), 4), expected, 1e-11));
        }
    }
}

TEST(entropy_of_a_uniform_square) {
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> uniform(0.0, 3.0);
    Sample sample{4000, 2, std::vector<double>(8000)};
    for (double& value : sample.values) value = uniform(generator);
    CHECK(close(entropy(sample.all(), 3), 2 * std::log(3.0), 0.05));
}

TEST(entropy_moves_with_the_unit) {
    Sample sample = gaussian(500, 3, 1);
    const double before = entropy(sample.all(), 3);
    for (double& value : sample.values) value *= 8.0;
    CHECK(close(entropy(sample.all(), 3), before + 3 * std::log(8.0), 1e-12));
}

TEST(entropy_of_coincident_points_is_minus_infinity) {
    CHECK(entropy(all_equal(50, 2, 1).all(), 3) == -infinity);
    Sample sample = gaussian(50, 2, 1);
    for (std::size_t i = 0; i < 4; ++i) sample(i, 0) = sample(i, 1) = 0.5;
    CHECK(entropy(sample.all(), 3) == -infinity);
    CHECK(std::isfinite(entropy(sample.all(), 4)));
}

TEST(entropy_is_the_same_bits_for_threads_and_orders_of_rows) {
    const Sample sample = gaussian(500, 3, 2);
    const double expected = entropy(sample.all(), 3);
    for (int threads = 1; threads <= 4; ++threads) CHECK(entropy(sample.all(), 3, {.threads = threads}) == expected);
    const Points reversed = Points::strided(sample.values.data() + 3 * 499, {500, 3}, {-3, 1});
    CHECK(entropy(reversed, 3) == expected);
}

TEST(estimates_vs_brute_force) {
    for (const Family& family : data_families) {
        for (const std::size_t dz : {0u, 1u, 3u}) {
            const Sample sample = family.make(150, 2 + dz, 3);
            const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, dz);
            for (const Engine engine : {Engine::automatic, Engine::tree}) {
                CHECK(close(conditional_mutual_information(x, y, z, 4, {.engine = engine}),
                            brute_force_estimate(x, y, z, 4), 1e-13));
            }
            CHECK(estimate_of(neighbor_counts(x, y, z, 4), 4) == conditional_mutual_information(x, y, z, 4));
        }
    }
}

TEST(counts_that_cannot_be) {
    const NeighborCounts counts{{1, 2, 2}, {2, 2, 1}, {2, 2, 2}, {}};
    CHECK(std::isfinite(estimate_of(counts, 2)));
    CHECK_THROWS(std::invalid_argument, estimate_of(counts, 3));
    CHECK_THROWS(std::invalid_argument, estimate_of({{1, 2, 3}, counts.yz, counts.z, {}}, 2));
    CHECK_THROWS(std::invalid_argument, estimate_of({{1, 2}, counts.yz, counts.z, {}}, 2));
}

// Closed forms: I(x; y) = -log(1 - r^2) / 2 of the correlation, or partial correlation, r.
TEST(estimates_of_gaussians) {
    std::mt19937_64 generator(4);
    std::normal_distribution<double> normal;
    Sample sample{4000, 3, std::vector<double>(12000)};
    for (std::size_t i = 0; i < sample.rows; ++i) {
        const double z = normal(generator), x = z + normal(generator), y = x + z + normal(generator);
        sample(i, 0) = x;
        sample(i, 1) = y;
        sample(i, 2) = z;
    }
    const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 1), none = sample.view(0, 0);
    CHECK(close(conditional_mutual_information(x, z, none, 3), std::log(2.0) / 2, 0.05));
    CHECK(close(conditional_mutual_information(x, y, z, 3), std::log(2.0) / 2, 0.05));
}

TEST(identities) {
    const Sample sample = gaussian(300, 4, 5);
    const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 2), none = sample.view(0, 0);
    // Every point has k - 1 nearer neighbours in x and in y alike.
    CHECK(close(conditional_mutual_information(x, x, none, 3), digamma(300) - digamma(3), 4e-15));
    CHECK(conditional_mutual_information(x, y, y, 3) == 0.0);
    CHECK(conditional_mutual_information(x, y, z, 3) == conditional_mutual_information(y, x, z, 3));

    const Sample constant = constant_column(300, 2, 6);
    const Points c = constant.view(0, 1);
    CHECK(conditional_mutual_information(x, c, none, 3) == 0.0);
    CHECK(conditional_mutual_information(x, y, c, 3) == conditional_mutual_information(x, y, none, 3));
}

TEST(estimates_do_not_depend_on_layout) {
    const Sample sample = gaussian(200, 4, 7);
    const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 2);
    const double expected = conditional_mutual_information(x, y, z, 3);
    std::vector<double> by_column;
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < 200; ++i) by_column.push_back(sample.all()(i, j));
    }
    const auto column_major = [&](std::size_t first, std::size_t count) {
        return Points::column_major(by_column.data(), 200, 4).columns(first, count);
    };
    const auto reversed = [&](std::size_t first, std::size_t count) {
        return Points::strided(sample.values.data() + 4 * 199 + first, {200, count}, {-4, 1});
    };
    CHECK(conditional_mutual_information(column_major(0, 1), column_major(1, 1), column_major(2, 2), 3) == expected);
    CHECK(conditional_mutual_information(reversed(0, 1), reversed(1, 1), reversed(2, 2), 3) == expected);
}

TEST(candidates_are_estimated_as_if_alone) {
    for (const std::size_t dz : {0u, 2u}) {
        for (const std::size_t m : {1u, 20u}) {
            const Sample sample = rounded(150, 1 + dz + m, 8);
            const Points x = sample.view(0, 1), z = sample.view(1, dz), candidates = sample.view(1 + dz, m);
            const std::vector<double> values = conditional_mutual_informations(x, candidates, z, 3);
            CHECK(values.size() == m);
            for (std::size_t j = 0; j < m; ++j) {
                CHECK(values[j] ==
                      conditional_mutual_information(x, candidates.column(j), z, 3, {.engine = Engine::tree}));
            }
        }
    }
}

TEST(constant_columns_of_z_make_no_difference) {
    for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
        for (const std::size_t varying : {0u, 1u, 3u}) {
            Sample sample = gaussian(60, 2 + 4, 9);
            for (std::size_t j = 2; j < 6 - varying; ++j)
                for (std::size_t i = 0; i < sample.rows; ++i) sample(i, j) = 7.0;
            sample.categories = {0, 0, 1, 0, 0, 0};
            const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 4);
            for (const Engine engine : {Engine::tree, Engine::single, Engine::batch})
                CHECK(neighbor_counts(x, y, z, {3, estimator}, {.engine = engine}) ==
                      brute_force_counts(x, y, z, {3, estimator}));
        }
}

TEST(input_that_cannot_be_used_is_an_error) {
    Sample sample = gaussian(20, 4, 9);
    const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 1);
    const Points none = sample.view(0, 0), shorter = Points::strided(sample.values.data(), {19, 1}, {4, 1});
    const auto estimate = [](const Points& a, const Points& b, const Points& c, int k) {
        return conditional_mutual_information(a, b, c, k);
    };
    for (const int k : {-1, 0, 20, 1000}) {
        CHECK_THROWS(std::invalid_argument, estimate(x, y, z, k));
        CHECK_THROWS(std::invalid_argument, entropy(x, k));
    }
    CHECK_THROWS(std::invalid_argument, estimate(none, y, z, 3));
    CHECK_THROWS(std::invalid_argument, estimate(x, none, z, 3));
    CHECK_THROWS(std::invalid_argument, entropy(none, 3));
    CHECK_THROWS(std::invalid_argument, estimate(x, shorter, z, 3));
    CHECK_THROWS(std::invalid_argument, estimate(x, y, shorter, 3));
    for (const double bad : {std::nan(""), infinity, -infinity}) {
        sample(13, 3) = bad;
        const Points last = sample.view(3, 1);
        CHECK_THROWS(std::invalid_argument, estimate(last, y, z, 3));
        CHECK_THROWS(std::invalid_argument, estimate(x, last, z, 3));
        CHECK_THROWS(std::invalid_argument, estimate(x, y, last, 3));
        CHECK_THROWS(std::invalid_argument, entropy(last, 3));
        CHECK_THROWS(std::invalid_argument, conditional_mutual_informations(x, sample.view(1, 3), none, 3));
    }
}

TEST(a_call_can_be_stopped) {
    const Sample sample = gaussian(2000, 4, 10);
    int calls = 0;
    const Options options{.engine = Engine::tree, .stop = [&] { return ++calls == 2; }};
    const auto many = [&] {
        for (int i = 0; i < 1000; ++i) {
            static_cast<void>(
                conditional_mutual_information(sample.view(0, 1), sample.view(1, 1), sample.view(2, 2), 3, options));
        }
    };
    CHECK_THROWS(Interrupted, many());
}

int main() { return run_tests(); }
