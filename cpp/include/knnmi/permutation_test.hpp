// The permutation test of conditional independence on the kNN estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knnmi/estimators.hpp"
#include "knnmi/options.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

// Which permutations of y: the same values give the same ones anywhere.
struct Permutations {
    int count = 200;
    std::uint64_t seed = 0;    // of the run
    std::uint64_t stream = 0;  // of this test
    // 0: y is permuted over all rows (the paper's null). m >= 1: each y_i is replaced by the y of one of the m nearest
    // neighbours of z_i, itself included (Runge 2018); with empty z this is the global null.
    int neighbors = 0;
    // A label for each row, or none at all. Rows of one label form a group: rows are permuted within their groups, also
    // with `neighbors`, or whole groups are permuted if `whole_groups` is set.
    std::vector<std::uint32_t> groups{};
    bool whole_groups = false;
    // Above 0: rows follow each other in time, and stretches of so many rows are permuted; not with `groups`.
    std::size_t block_length = 0;
    // Above 1, for block_length only: stretches begin every so many rows only, so that each row keeps its place in the
    // season. Rows after the last whole season stay. With `neighbors` block_length must be a multiple of it.
    std::size_t season = 1;
};

enum class StopWhen {
    all_made,    // never before that
    certain,     // no outcome of the remaining permutations can change whether p < alpha
    sequential,  // that, or the evidence for p < alpha is strong: the level is alpha at most, for exchangeable
                 // permutations
    reached,     // `enough` permuted estimates reached the observed one, so p_value() is known well enough
};

// With StopWhen::reached, p_value() is a p-value at every level, as with Besag and Clifford (1991,
// doi:10.1093/biomet/78.2.301), who look after each permutation. Let look i be the first at which a test can end with
// p_value() <= a. A test that ends with p_value() <= a, at whichever look, has p_value() <= a at look i already: if it
// ends later, fewer than `enough` had reached there. Of exchangeable estimates that has a probability of a at most.
struct Stopping {
    static constexpr int enough = 25;  // the standard error of p is a fifth of it

    StopWhen when = StopWhen::all_made;
    double alpha = 0.05;

    bool operator==(const Stopping&) const = default;
};

struct PermutationResult {
    double statistic;  // the observed estimate, nats
    int at_least;      // permuted estimates >= the observed one (ties count, and are exact)
    int permutations;  // how many were made

    // Valid whenever a test is stopped: under independence it is below any a with a probability of a at most. Of the
    // best wealth at the looks taken; see Stopping.
    double anytime_p_value;

    // Never zero (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
    double p_value() const { return (at_least + 1.0) / (permutations + 1.0); }
    bool operator==(const PermutationResult&) const = default;
};

// The test is of dependence when p_value() < alpha. It may end at a few looks before all permutations are made.
PermutationResult permutation_test(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                                   const Permutations& permutations = {}, const Stopping& stopping = {},
                                   const Options& options = {});

// The observed estimate and those with permuted y, in nats, for tests that combine several statistics.
struct PermutedStatistics {
    double statistic;
    std::vector<double> permuted;
};
PermutedStatistics permuted_statistics(const Points& x, const Points& y, const Points& z,
                                       const Neighborhood& neighborhood, const Permutations& permutations = {},
                                       const Options& options = {});

// The permutations themselves, one after another: in permutation t, row i is given the y of row
// result[t * z.rows() + i]. Those from number `first` on.
std::vector<std::uint32_t> permuted_rows(const Points& z, const Permutations& permutations, std::uint32_t first = 0,
                                         const Options& options = {});

// Permutations among the m = `permutations.neighbors` nearest neighbours in z, in the same form. In each, pairs of
// neighbours swap twice, the first time in the same pairs for all permutations. So the rows' own order is to each
// permutation what the permutations are to each other, and a p-value from them is exact where y, in whatever form, is
// exchangeable over all rows (Besag and Clifford 1989, doi:10.1093/biomet/76.4.633). With empty z they are those of
// `permuted_rows`; else m must be at least 1, and there may be neither groups nor a block length.
std::vector<std::uint32_t> swapped_rows(const Points& z, const Permutations& permutations, std::uint32_t first = 0,
                                        const Options& options = {});

}  // namespace knnmi
