#include "knnmi/block_regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "block_fitter.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

using regression::BlockFitter;
using regression::width;

// Features of the conditioning columns that products are made of: the first three of those that pair blocks have.
constexpr std::size_t factors = 3;

// Sum, weights and correlations of one group of products, shape (rows, count) by columns.
ProductGroup summed(std::int32_t column, const std::vector<std::vector<double>>& products,
                    const std::vector<double>& weights) {
    std::vector<std::vector<double>> centred;
    std::vector<double> weight;
    ProductGroup group{column, 0.0, {}};
    for (std::size_t i = 0; i < products.size(); ++i) {
        const std::vector<double>& product = products[i];
        const double sum = std::accumulate(product.begin(), product.end(), 0.0);
        const double mean = sum / static_cast<double>(product.size());
        std::vector<double> left(product);
        double square = 0.0;
        for (double& value : left) {
            value -= mean;
            square += value * value;
        }
        if (!(square > 1e-12 * static_cast<double>(product.size()))) continue;  // a feature without spread
        group.sum += weights[i] * sum * sum / square;
        for (double& value : left) value /= std::sqrt(square);
        centred.push_back(std::move(left));
        weight.push_back(weights[i]);
    }
    const std::size_t m = centred.size();
    std::vector<double> matrix(m * m);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const double r =
                i == j ? 1.0 : std::inner_product(centred[i].begin(), centred[i].end(), centred[j].begin(), 0.0);
            matrix[i * m + j] = matrix[j * m + i] = std::sqrt(weight[i] * weight[j]) * r;
        }
    }
    for (std::size_t i = 0; i < m; ++i) {
        group.traces[0] += matrix[i * m + i];
        for (std::size_t j = 0; j < m; ++j) {
            group.traces[1] += matrix[i * m + j] * matrix[i * m + j];
            double path = 0.0;
            for (std::size_t k = 0; k < m; ++k) path += matrix[i * m + k] * matrix[k * m + j];
            group.traces[2] += path * matrix[i * m + j];
        }
    }
    return group;
}

}  // namespace

BlockRegression::BlockRegression(BlockFeatures features, std::vector<BlockPriors> main, BlockPriors pair,
                                 std::array<std::int32_t, 4> pair_features, const Options& options)
    : table_(std::make_unique<regression::BlockTable>(std::move(features), main, pair, pair_features, options)) {}

BlockRegression::~BlockRegression() = default;

std::size_t BlockRegression::columns() const { return table_->columns(); }
std::size_t BlockRegression::rows() const { return table_->rows(); }

std::vector<BlockFit> BlockRegression::fits(const std::vector<BlockSearch>& searches, const BlockCosts& costs,
                                            const Options& options) const {
    table_->tidy();
    std::vector<BlockFit> found(searches.size());
    parallel_for(searches.size(), options, [&](std::size_t i, int) {
        const BlockSearch& search = searches[i];
        std::vector<std::int32_t> columns(search.columns);
        std::sort(columns.begin(), columns.end());
        const auto among = [&](std::int32_t j) {
            return j < 0 || std::binary_search(columns.begin(), columns.end(), j);
        };
        std::vector<BlockTerm> start;
        for (const BlockTerm& term : search.start) {
            if (among(term[0]) && among(term[1])) start.push_back(term);
        }
        BlockFitter fitter(*table_, search.target, costs);
        fitter.reset(start);
        fitter.search(columns);
        found[i] = {fitter.terms(), fitter.gain()};
    });
    return found;
}

std::vector<std::vector<double>> BlockRegression::main_gains(const std::vector<FittedTarget>& fits,
                                                             const std::vector<std::vector<std::int32_t>>& candidates,
                                                             const BlockCosts& costs, const Options& options) const {
    table_->tidy();
    std::vector<std::vector<double>> found(fits.size());
    parallel_for(fits.size(), options, [&](std::size_t i, int) {
        BlockFitter fitter(*table_, fits[i].target, costs);
        fitter.reset(fits[i].terms);
        for (const std::int32_t j : candidates[i]) {
            found[i].push_back(std::max(fitter.best_prior({j, -1, 0}).gain, 0.0));
        }
    });
    return found;
}

std::vector<std::vector<double>> BlockRegression::pair_scores(const std::vector<FittedTarget>& fits,
                                                              const std::vector<std::vector<std::int32_t>>& candidates,
                                                              const std::vector<std::vector<std::int32_t>>& with,
                                                              const Options& options) const {
    table_->tidy();
    std::vector<std::vector<double>> found(fits.size());
    parallel_for(fits.size(), options, [&](std::size_t i, int) {
        BlockFitter fitter(*table_, fits[i].target, {});
        fitter.reset(fits[i].terms);
        const std::vector<double> left = fitter.residual();
        found[i].assign(candidates[i].size(), 0.0);
        table_->score_pairs(left, with[i], candidates[i], [&](std::size_t k, std::size_t j, double largest, double) {
            if (with[i][k] != candidates[i][j]) found[i][j] = std::max(found[i][j], largest);
        });
    });
    return found;
}

std::vector<double> BlockRegression::without(const std::vector<FittedTarget>& fits,
                                             const std::vector<std::int32_t>& columns, const BlockCosts& costs,
                                             const Options& options) const {
    table_->tidy();
    std::vector<double> found(fits.size());
    parallel_for(fits.size(), options, [&](std::size_t i, int) {
        BlockFitter fitter(*table_, fits[i].target, costs);
        std::vector<BlockTerm> others;
        for (const BlockTerm& term : fits[i].terms) {
            if (term[0] != columns[i] && term[1] != columns[i]) others.push_back(term);
        }
        fitter.reset(others);
        found[i] = fitter.gain();
    });
    return found;
}

std::vector<double> BlockRegression::coefficients(const FittedTarget& fit) const {
    BlockFitter fitter(*table_, fit.target, {});
    fitter.reset(fit.terms);
    const std::vector<double> used = fitter.coefficients();
    std::vector<double> all(fit.terms.size() * width);
    for (std::size_t r = 0; r < used.size(); ++r)
        all[fitter.uses()[r].term * width + fitter.uses()[r].feature] = used[r];
    return all;
}

std::vector<double> BlockRegression::residual(const FittedTarget& fit) const {
    BlockFitter fitter(*table_, fit.target, {});
    fitter.reset(fit.terms);
    return fitter.residual();
}

std::vector<std::vector<ProductGroup>> BlockRegression::products(const std::vector<FittedTarget>& responses,
                                                                 const std::vector<std::vector<FittedTarget>>& sources,
                                                                 const std::vector<std::vector<std::int32_t>>& given,
                                                                 const Options& options) const {
    table_->tidy();
    std::vector<std::vector<ProductGroup>> found(responses.size());
    parallel_for(responses.size(), options, [&](std::size_t i, int) {
        const std::vector<double> response = residual(responses[i]);
        std::vector<std::vector<double>> alone;
        std::vector<double> weights;
        for (const FittedTarget& source : sources[i]) {
            std::vector<double> product = residual(source);
            for (std::size_t row = 0; row < product.size(); ++row) product[row] *= response[row];
            alone.push_back(std::move(product));
            weights.push_back(1.0 / static_cast<double>(alone.size()));
        }
        found[i].push_back(summed(-1, {alone.front()}, {1.0}));
        found[i].push_back(summed(-2, alone, weights));
        for (const std::int32_t s : given[i]) {
            std::vector<std::vector<double>> products;
            weights.clear();
            for (std::size_t k = 0; k < std::min(factors, alone.size()); ++k) {
                for (std::size_t l = 0; l < factors; ++l) {
                    std::vector<double> product = alone[k];
                    for (std::size_t row = 0; row < product.size(); ++row) {
                        product[row] *= table_->feature(row, {s, table_->pair_features[l]});
                    }
                    products.push_back(std::move(product));
                    weights.push_back(1.0 / static_cast<double>((k + 1) * (l + 1)));
                }
            }
            found[i].push_back(summed(s, products, weights));
        }
    });
    return found;
}

}  // namespace knnmi
