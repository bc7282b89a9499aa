// One regression that grows and shrinks by whole blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "block_table.hpp"

namespace knnmi::regression {

class BlockFitter {
public:
    BlockFitter(const BlockTable& table, BlockFeature target, const BlockCosts& costs);

    struct Choice {
        double gain = 0.0;
        std::int32_t prior = 0;
    };

    const std::vector<BlockTerm>& terms() const { return terms_; }
    // Log evidence less costs, relative to the regression on nothing.
    double gain() const;

    // The best prior of a block that is not in the fit, and what it adds to the gain.
    Choice best_prior(const BlockTerm& block);
    // The same for a block that is in the fit: what would be best in its place.
    Choice best_prior_of_member(const BlockTerm& term);
    void add(const BlockTerm& term);
    void reset(const std::vector<BlockTerm>& terms);

    // Searches as `BlockRegression::fits` says, among the blocks of these columns.
    void search(const std::vector<std::int32_t>& columns);

    // Posterior means of the coefficients of all features in use, in the order of `uses`.
    std::vector<double> coefficients() const;
    // What the fit leaves of the target.
    std::vector<double> residual() const;

    // A feature in use.
    struct Use {
        std::size_t term, feature;
        double deviation;
    };
    const std::vector<Use>& uses() const { return uses_; }

private:
    // Of a block A what the fit leaves: A'A and A'y without what it explains, and L^-1 D^.5 F'A (rows by width), which
    // the two are made of. All go on where they were when the fit has grown. When it has lost terms, the rows of those
    // before them stay, and the products begin anew.
    struct Left {
        std::vector<double> shared;
        bool begun = false;
        Tile gram{};
        Strip right{};
    };
    Left& left_of(const BlockTerm& block);
    // Of a block of which this is left, in a fit that leaves `left` of the target.
    Choice best_prior(const BlockTerm& block, const Tile& gram, const Strip& right, double left) const;
    // Adds blocks of these columns while one gains; of many pair blocks only those whose products go with the residual,
    // and only when no main block gains any more.
    bool grow(const std::vector<std::int32_t>& columns);
    bool add_best_of(const std::vector<BlockTerm>& candidates);
    std::vector<BlockTerm> pairs_worth_trying(const std::vector<std::int32_t>& columns) const;
    double cost(const BlockTerm& term) const { return term[1] < 0 ? costs_.main : costs_.pair; }

    const BlockTable& table_;
    BlockFeature target_;
    BlockCosts costs_;
    double total_;  // y'y
    double left_;   // y'(I + F D F')^-1 y
    double half_log_determinant_ = 0.0, cost_ = 0.0;
    // What was so before each term was added.
    struct Passed {
        std::size_t uses;
        double left, half_log_determinant, cost;
    };
    std::vector<Passed> passed_;
    std::vector<BlockTerm> terms_;
    std::vector<Use> uses_;
    // L of LL' = I + D^.5 F'F D^.5, rows `stride_` apart, and L^-1 D^.5 F'y.
    std::size_t stride_ = 0;
    std::unique_ptr<double[]> lower_;
    std::vector<double> solved_;
    std::map<std::array<std::int32_t, 2>, Left> known_;
};

}  // namespace knnmi::regression
