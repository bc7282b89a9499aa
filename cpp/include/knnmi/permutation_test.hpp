// The permutation test of conditional independence on the kNN estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knnmi/estimators.hpp"
#include "knnmi/options.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

struct PermutationTest {
    int permutations = 200;
    std::uint64_t seed = 0;    // of the run
    std::uint64_t stream = 0;  // of this test: the same (seed, stream) gives the same permutations anywhere
    // 0: y is permuted over all rows (the paper's null). m >= 1: each y_i is replaced by the y of one of the m nearest
    // neighbours of z_i, itself included (Runge 2018); with empty z this is the global null.
    int neighbors = 0;
    // Above 0: stop as soon as no outcome of the remaining permutations can change `p < alpha`.
    double stop_at_alpha = 0.0;
};

struct PermutationResult {
    double statistic;  // the observed estimate, nats
    int at_least;      // permuted estimates >= the observed one (ties count, and are exact)
    int permutations;  // how many were made

    // Never zero (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
    double p_value() const { return (at_least + 1.0) / (permutations + 1.0); }
    bool operator==(const PermutationResult&) const = default;
};

PermutationResult permutation_test(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                                   const PermutationTest& test, const Options& options = {});

// The permutation number `index` = 0, 1, ... of a test over all rows: row i is given the y of row permutation[i].
std::vector<std::uint32_t> permutation(std::size_t n, std::uint64_t seed, std::uint64_t stream, std::uint32_t index);

}  // namespace knnmi
