// The kernels of block regressions against plain loops, the same bits on every instruction set, and a regression
// against a closed form.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "knnmi/block_regression.hpp"
#include "knnmi/build_info.hpp"
#include "regression/block_kernels.hpp"

using namespace knnmi;
using namespace knnmi::regression;
using namespace knnmi::test;

namespace knnmi::regression {
extern const BlockKernels plain_block_kernels;
}

namespace {

std::vector<double> normal(std::size_t how_many, unsigned seed) {
    std::mt19937_64 draw(seed);
    std::normal_distribution<double> distribution;
    std::vector<double> values(how_many);
    for (double& value : values) value = distribution(draw);
    return values;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-10 * (1.0 + std::abs(b)); }

struct Results {
    std::vector<double> values;
    bool operator==(const Results&) const = default;
};

// Everything that a set of kernels answers on the same input.
Results run(const BlockKernels& kernels) {
    constexpr std::size_t n = 203, m = 21;
    const std::vector<double> a = normal(n * width, 1), b = normal(n * width, 2), y = normal(n, 3);
    Results all;
    std::vector<double> gram(width * width), right(width);
    kernels.cross(a.data(), b.data(), n, gram.data());
    all.values = gram;
    right = normal(width, 7);
    std::vector<double> lower = normal(m * m, 4), h = normal(m * width, 5);
    for (std::size_t i = 0; i < m; ++i) lower[i * m + i] = 2.0 + std::abs(lower[i * m + i]);
    kernels.substitute(lower.data(), m, 0, m, h.data());
    all.values.insert(all.values.end(), h.begin(), h.end());
    kernels.cross(a.data(), a.data(), n, gram.data());
    kernels.downdate(h.data(), y.data(), m, gram.data(), right.data());
    all.values.insert(all.values.end(), gram.begin(), gram.end());
    all.values.insert(all.values.end(), right.begin(), right.end());
    std::vector<double> deviations = normal(width * batch, 6), root(batch), drop(batch);
    for (double& d : deviations) d = d < 0 ? 0.0 : d;
    kernels.cross(a.data(), a.data(), n, gram.data());
    std::array<std::size_t, width> features;
    std::iota(features.begin(), features.end(), std::size_t{0});
    kernels.try_priors(gram.data(), right.data(), features.data(), width, deviations.data(), root.data(), drop.data());
    all.values.insert(all.values.end(), root.begin(), root.end());
    all.values.insert(all.values.end(), drop.begin(), drop.end());
    return all;
}

}  // namespace

TEST(every_set_gives_the_bits_of_plain_code) {
    CHECK(run(block_kernels()) == run(plain_block_kernels));
    std::printf("compared with %s\n", build_info().instruction_set.c_str());
}

TEST(products_are_those_of_plain_loops) {
    constexpr std::size_t n = 131;
    const std::vector<double> a = normal(n * width, 1), b = normal(n * width, 2);
    std::vector<double> gram(width * width);
    block_kernels().cross(a.data(), b.data(), n, gram.data());
    for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            double sum = 0.0;
            for (std::size_t row = 0; row < n; ++row) sum += a[row * width + i] * b[row * width + j];
            CHECK(near(gram[i * width + j], sum));
        }
    }
}

TEST(substitution_solves_the_triangular_system) {
    constexpr std::size_t m = 9;
    std::vector<double> lower = normal(m * m, 4), h = normal(m * width, 5);
    for (std::size_t i = 0; i < m; ++i) lower[i * m + i] = 2.0;
    std::vector<double> solved = h;
    block_kernels().substitute(lower.data(), m, 0, 4, solved.data());
    block_kernels().substitute(lower.data(), m, 4, m, solved.data());
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k <= i; ++k) sum += lower[i * m + k] * solved[k * width + j];
            CHECK(near(sum, h[i * width + j]));
        }
    }
}

TEST(features_without_deviation_change_no_bit_of_a_prior) {
    const std::vector<double> a = normal(40 * width, 1), right = normal(width, 2), drawn = normal(width * batch, 3);
    std::vector<double> gram(width * width);
    block_kernels().cross(a.data(), a.data(), 40, gram.data());
    const std::array<std::size_t, 5> some{0, 3, 7, 8, 15};
    std::array<std::size_t, width> features;
    std::iota(features.begin(), features.end(), std::size_t{0});
    std::vector<double> few(drawn.begin(), drawn.begin() + some.size() * batch), padded(width * batch);
    for (std::size_t i = 0; i < some.size(); ++i) {
        std::copy_n(few.begin() + static_cast<std::ptrdiff_t>(i * batch), batch,
                    padded.begin() + static_cast<std::ptrdiff_t>(some[i] * batch));
    }
    std::array<double, batch> root, drop, all_root, all_drop;
    block_kernels().try_priors(gram.data(), right.data(), some.data(), some.size(), few.data(), root.data(),
                               drop.data());
    block_kernels().try_priors(gram.data(), right.data(), features.data(), width, padded.data(), all_root.data(),
                               all_drop.data());
    CHECK(root == all_root);
    CHECK(drop == all_drop);
}

TEST(one_feature_has_the_closed_form_of_its_evidence) {
    // With one feature f and prior variance d: -1/2 log(1 + d f'f) - (n - 1)/2 log(1 - d (f'y)^2 / (1 + d f'f) / y'y).
    constexpr std::size_t n = 50;
    const std::vector<double> drawn = normal(2 * n, 7);
    BlockFeatures features{std::vector<double>(2 * n * width), n, {0, 0}};
    for (std::size_t row = 0; row < n; ++row) {
        features.values[row * width] = drawn[row];
        features.values[(n + row) * width] = drawn[row] + drawn[n + row];
    }
    const BlockPriors priors{[] {
        std::vector<double> deviations(width);
        deviations[0] = 0.3;
        return deviations;
    }()};
    double ff = 0.0, fy = 0.0, yy = 0.0;
    for (std::size_t row = 0; row < n; ++row) {
        const double f = features.values[row * width], y = features.values[(n + row) * width];
        ff += f * f;
        fy += f * y;
        yy += y * y;
    }
    const double d = 0.09, spread = 1.0 + d * ff;
    const double expected = -0.5 * std::log(spread) - 0.5 * (n - 1) * std::log(1.0 - d * fy * fy / spread / yy);
    const BlockRegression regression(features, {priors}, priors, {0, 1, 2, 3}, {.threads = 1});
    const auto fits = regression.fits({{{1, 0}, {0}, {}}}, {.main = 0.5, .pair = 1.5}, {.threads = 1});
    CHECK(fits.front().terms.size() == 1);
    CHECK(near(fits.front().gain, expected - 0.5));
}

TEST(threads_may_call_one_regression_at_once) {
    constexpr std::size_t n = 40, columns = 7;
    const BlockPriors priors{std::vector<double>(width, 0.3)};
    const BlockRegression regression({normal(columns * n * width, 9), n, std::vector<std::uint8_t>(columns)}, {priors},
                                     priors, {0, 1, 2, 3}, {.threads = 1});
    std::vector<FittedTarget> fits;
    std::vector<std::vector<double>> expected;
    for (std::int32_t a = 0; a < 5; ++a) {
        for (std::int32_t b = a + 1; b < 6; ++b) fits.push_back({{6, 0}, {{a, -1, 0}, {b, -1, 0}, {a, b, 0}}});
    }
    for (const FittedTarget& fit : fits) expected.push_back(regression.residual(fit));
    std::vector<std::thread> threads;
    std::array<bool, 4> equal{};
    for (std::size_t t = 0; t < equal.size(); ++t) {
        threads.emplace_back([&, t] {
            equal[t] = true;
            for (std::size_t i = 0; i < 10 * fits.size(); ++i) {
                const std::size_t j = (i + 3 * t) % fits.size();
                equal[t] = equal[t] && regression.residual(fits[j]) == expected[j];
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const bool all : equal) CHECK(all);
}

TEST(bins_without_rows_are_an_error) {
    BlockFeatures features{std::vector<double>(3 * 20 * width), 20, {0, 0, 0}};
    for (std::size_t i = 0; i < 3 * 20; ++i) features.values[i * width] = static_cast<double>(i * i % 7);
    const BlockPriors priors{std::vector<double>(width, 0.3)};
    const BlockRegression regression(features, {priors}, priors, {0, 1, 2, 3}, {});
    const FittedTarget response{{0, 0}, {{2, -1, 0}}}, source{{1, 0}, {{2, -1, 0}}};
    CHECK(regression.products({response}, {{source}}, {{}}, {{}}, 5, {}).size() == 1);
    CHECK_THROWS(std::invalid_argument, regression.products({response}, {{source}}, {{}}, {{}}, 0, {}));
}

TEST(shapes_are_checked) {
    CHECK_THROWS(std::invalid_argument, BlockRegression({{1.0}, 1, {0}}, {{}}, {}, {0, 1, 2, 3}, {}));
    const BlockPriors priors{std::vector<double>(width, 0.3)};
    CHECK_THROWS(std::invalid_argument, BlockRegression({{}, 20, {}}, {priors}, priors, {0, 1, 2, 3}, {}));
    const BlockRegression regression({std::vector<double>(20 * width), 20, {0}}, {priors}, priors, {0, 1, 2, 3}, {});
    const FittedTarget fit{{0, 0}, {}};
    CHECK_THROWS(std::invalid_argument, regression.main_gains({fit}, {}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.pair_scores({fit}, {{0}}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.without({fit}, {}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.products({fit}, {}, {{}}, {{}}, 5, {}));
    CHECK_THROWS(std::invalid_argument, regression.products({fit}, {{}}, {{}}, {{}}, 5, {}));
    const FittedTarget elsewhere{{1, 0}, {}};
    CHECK_THROWS(std::invalid_argument, regression.fits({{{0, 0}, {1}, {}}}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.main_gains({fit}, {{-1}}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.pair_scores({fit}, {{0}}, {{1}}, {}));
    CHECK_THROWS(std::invalid_argument, regression.without({elsewhere}, {0}, {}, {}));
    CHECK_THROWS(std::invalid_argument, regression.residual(elsewhere));
    CHECK_THROWS(std::invalid_argument, regression.coefficients({{0, 16}, {}}));
    CHECK_THROWS(std::invalid_argument, regression.residual({{0, 0}, {{0, -1, 1}}}));
    CHECK_THROWS(std::invalid_argument, regression.products({fit}, {{fit}}, {{1}}, {{}}, 5, {}));
    CHECK_THROWS(std::invalid_argument, regression.products({fit}, {{fit}}, {{}}, {{1.0, 2.0}}, 5, {}));
    for (const double weight : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK_THROWS(std::invalid_argument, regression.products({fit}, {{fit}}, {{}}, {{weight}}, 5, {}));
}

int main() { return run_tests(); }
