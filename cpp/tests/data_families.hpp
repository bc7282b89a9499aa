// The kinds of data on which engines have been seen to differ: each makes the same matrix for the same seed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "knnmi/points.hpp"

namespace knnmi::test {

// n rows of d columns, one row after another, with views of any run of columns.
struct Sample {
    std::size_t rows, columns;
    std::vector<double> values;
    std::vector<unsigned char> categories{};  // which columns are; empty: none

    Points view(std::size_t first, std::size_t count) const {
        const Points points = Points::row_major(values.data(), rows, columns);
        return (categories.empty() ? points : points.with_categories(categories.data())).columns(first, count);
    }
    Points all() const { return view(0, columns); }
    double& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
};

inline Sample gaussian(std::size_t n, std::size_t d, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Sample sample{n, d, std::vector<double>(n * d)};
    for (std::size_t i = 0; i < n; ++i) {
        const double shared = normal(generator);
        for (std::size_t j = 0; j < d; ++j) sample(i, j) = 0.7 * shared + 0.7 * normal(generator);
    }
    return sample;
}

// On a grid of 0.1, so that distances that are equal in exact arithmetic differ in the last bit.
inline Sample rounded(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (double& value : sample.values) value = std::round(value * 10) / 10;
    return sample;
}

inline Sample integers(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (double& value : sample.values) value = std::round(1.5 * value);
    return sample;
}

// Each row about four times, so that some k-th distances are 0.
inline Sample duplicated_rows(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    std::mt19937_64 generator(seed);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t original = generator() % (n / 4 + 1);
        for (std::size_t j = 0; j < d; ++j) sample(i, j) = sample(original, j);
    }
    return sample;
}

inline Sample all_equal(std::size_t n, std::size_t d, std::uint64_t seed) {
    return {n, d, std::vector<double>(n * d, static_cast<double>(seed % 3) - 1.0)};
}

// The first column is constant, the others are not.
inline Sample constant_column(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (std::size_t i = 0; i < n; ++i) sample(i, 0) = 7.0;
    return sample;
}

inline Sample heavy_tails(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (double& value : sample.values) value = std::sinh(6 * value);
    return sample;
}

// Columns in units of 1e-310, 1, 1e300 and 1e308, so that some values are subnormal and some differences infinite.
inline Sample hugely_scaled(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    constexpr double scales[] = {1e308, 1.0, 1e-310, 1e300};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) sample(i, j) = std::tanh(sample(i, j)) * scales[j % 4];
    }
    return sample;
}

// Most values are subnormal, the others far outside.
inline Sample crowded(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j) sample(i, j) *= (i + j) % 5 == 0 ? 1e300 : 1e-309;
    return sample;
}

// Each column has a row of its own far outside.
inline Sample outliers(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (std::size_t j = 0; j < d; ++j) sample(j % n, j) = 1e9;
    return sample;
}

inline Sample two_values(std::size_t n, std::size_t d, std::uint64_t seed) {
    Sample sample = gaussian(n, d, seed);
    for (double& value : sample.values) value = value > 0.0 ? 1.0 : -1.0;
    return sample;
}

struct Family {
    const char* name;
    Sample (*make)(std::size_t n, std::size_t d, std::uint64_t seed);
};

inline constexpr Family data_families[] = {
    {"gaussian", gaussian},       {"rounded", rounded},
    {"integers", integers},       {"duplicated rows", duplicated_rows},
    {"all equal", all_equal},     {"constant column", constant_column},
    {"heavy tails", heavy_tails}, {"hugely scaled", hugely_scaled},
    {"outliers", outliers},       {"two values", two_values},
    {"crowded", crowded},
};

}  // namespace knnmi::test
