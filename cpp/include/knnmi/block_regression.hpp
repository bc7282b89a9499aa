// Bayesian regressions on blocks of features, chosen by their evidence.
//
// A table has a main block of 16 features for each column, and a pair block of 16 products for each two columns. The
// target of a regression is one feature y. With F the features of the chosen blocks,
//
//     y = F b + noise,   b ~ N(0, s2 D),   noise ~ N(0, s2 I),   p(s2) = 1 / s2,
//
// and D diagonal, chosen for each block from a table of priors. The log evidence, up to a constant, is
// -1/2 log|I + F D F'| - (n - 1)/2 log y'(I + F D F')^-1 y; from it a cost is taken off for each block. All is in nats,
// relative to the regression on nothing. Answers do not depend on the number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "knnmi/options.hpp"

namespace knnmi {

namespace regression {
struct BlockTable;
}

// The standard deviations of coefficients under `count` priors, shape (count, 16).
struct BlockPriors {
    std::vector<double> deviations;
    std::size_t count() const { return deviations.size() / 16; }
};

// The features of a table: centred, of variance 1, or all zero where a column has fewer.
struct BlockFeatures {
    std::vector<double> values;       // shape (columns, n, 16)
    std::size_t n = 0;                // rows
    std::vector<std::uint8_t> kinds;  // for each column, which of the tables of main priors is its own
};

// A block with its prior: {first column, second column or -1 for a main block, number of the prior}.
using BlockTerm = std::array<std::int32_t, 3>;
// A feature of a main block: {column, number of the feature}.
using BlockFeature = std::array<std::int32_t, 2>;

struct BlockFit {
    std::vector<BlockTerm> terms;
    double gain = 0.0;  // log evidence less costs
};

struct BlockCosts {
    double main = 0.0, pair = 0.0;
    std::size_t most = 20;  // blocks in a fit
    int passes = 4;         // at most this many passes over all blocks of a fit
};

// A search for the best fit of one target on blocks of some columns.
struct BlockSearch {
    BlockFeature target;
    std::vector<std::int32_t> columns;
    std::vector<BlockTerm> start;  // where the search begins; terms of other columns are left out
};

// A fit of one target, as the functions below take it.
struct FittedTarget {
    BlockFeature target;
    std::vector<BlockTerm> terms;
};

// What a regression says about a group of products: the sum of weighted squares, and the traces of the powers 1 to 3 of
// the matrix whose eigenvalues weigh the chi-squared variables that it is a sum of under independence.
struct ProductGroup {
    std::int32_t
        column;  // the conditioning column that is a factor; -1 for the first source, -2 for all, -3 for their mixture
    double sum;
    std::array<double, 3> traces;
};

class BlockRegression {
public:
    // `pair_features` are the four features of each column that pair blocks are products of.
    BlockRegression(BlockFeatures features, std::vector<BlockPriors> main, BlockPriors pair,
                    std::array<std::int32_t, 4> pair_features, const Options& options);
    ~BlockRegression();

    std::size_t columns() const;
    std::size_t rows() const;

    // For each search the fit of highest gain that greedy steps find: blocks are added while one gains, then removed or
    // given another prior, and added again.
    std::vector<BlockFit> fits(const std::vector<BlockSearch>& searches, const BlockCosts& costs,
                               const Options& options) const;

    // For each fit, and each of its candidate columns, what the column's main block would add to the gain: at least 0.
    std::vector<std::vector<double>> main_gains(const std::vector<FittedTarget>& fits,
                                                const std::vector<std::vector<std::int32_t>>& candidates,
                                                const BlockCosts& costs, const Options& options) const;

    // For each fit, and each of its candidate columns, the largest squared correlation, times n, of the residual with a
    // product of the column's pair features and those of a column of `with`.
    std::vector<std::vector<double>> pair_scores(const std::vector<FittedTarget>& fits,
                                                 const std::vector<std::vector<std::int32_t>>& candidates,
                                                 const std::vector<std::vector<std::int32_t>>& with,
                                                 const Options& options) const;

    // For each fit the gain that is left without the terms of one column, priors kept.
    std::vector<double> without(const std::vector<FittedTarget>& fits, const std::vector<std::int32_t>& columns,
                                const BlockCosts& costs, const Options& options) const;

    // The posterior mean of the coefficients of one fit, shape (terms, 16).
    std::vector<double> coefficients(const FittedTarget& fit) const;

    // What a fit leaves of its target, shape (n,).
    std::vector<double> residual(const FittedTarget& fit) const;

    // Products of the residual of `response` and those of `sources`, alone and times features of the columns `given`,
    // in the groups: the first source, all sources, one for each column given; and the sum of sources with the weights
    // of a `mixture`, where these are not empty. From the residual of a response the
    // means over bins of rows next to each other are taken off, for each column that both its fit and that of a source
    // use: what both leave of a jump or in a tail would look like dependence. The bins have about `bin_rows` rows,
    // times the number of such columns.
    std::vector<std::vector<ProductGroup>> products(const std::vector<FittedTarget>& responses,
                                                    const std::vector<std::vector<FittedTarget>>& sources,
                                                    const std::vector<std::vector<std::int32_t>>& given,
                                                    const std::vector<std::vector<double>>& mixtures,
                                                    std::size_t bin_rows, const Options& options) const;

private:
    std::unique_ptr<regression::BlockTable> table_;
};

}  // namespace knnmi
