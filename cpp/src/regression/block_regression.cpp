#include "knnmi/block_regression.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "block_fitter.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

using regression::BlockFitter;
using regression::width;

// Features of the conditioning columns that products are made of: the first three of those that pair blocks have.
constexpr std::size_t factors = 3;
// How many times the means of all bins are taken off a residual.
constexpr int rounds = 2;

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

// The columns that the fit of the response and that of a source use.
std::vector<std::int32_t> shared_columns(const FittedTarget& response, const std::vector<FittedTarget>& sources) {
    const auto columns_of = [](const FittedTarget& fit) {
        std::set<std::int32_t> columns;
        for (const BlockTerm& term : fit.terms) columns.insert({term[0], term[1]});
        columns.erase(-1);
        return columns;
    };
    std::set<std::int32_t> of_sources;
    for (const FittedTarget& source : sources) of_sources.merge(columns_of(source));
    std::vector<std::int32_t> shared;
    for (const std::int32_t j : columns_of(response)) {
        if (of_sources.count(j) > 0) shared.push_back(j);
    }
    return shared;
}

// For each row the bin, of about `rows` rows, that it falls in with those next to it in a column. Ties share a bin.
std::vector<std::size_t> bins_of(const regression::BlockTable& table, std::int32_t column, std::size_t rows) {
    const std::size_t n = table.rows(), bins = std::max<std::size_t>(n / rows, 1);
    const double* block = table.block(static_cast<std::size_t>(column));
    const auto features = [&](std::size_t row) { return std::span<const double>(block + row * width, width); };
    const auto before = [&](std::size_t a, std::size_t b) {
        const auto x = features(a), y = features(b);
        return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    };
    std::vector<std::size_t> order(n), bin(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), before);
    std::size_t first = 0;  // of the rows tied with this one
    for (std::size_t place = 0; place < n; ++place) {
        if (before(order[first], order[place])) first = place;
        bin[order[place]] = first * bins / n;
    }
    return bin;
}

void take_off_means(std::vector<double>& values, const std::vector<std::size_t>& bin) {
    std::vector<double> sums(values.size()), counts(values.size());
    for (std::size_t row = 0; row < values.size(); ++row) {
        sums[bin[row]] += values[row];
        counts[bin[row]] += 1.0;
    }
    for (std::size_t row = 0; row < values.size(); ++row) values[row] -= sums[bin[row]] / counts[bin[row]];
}

// The places of questions with the same target, target by target. One fitter answers them, and keeps what they share.
template <class Question>
std::vector<std::vector<std::size_t>> by_target(const std::vector<Question>& questions) {
    std::map<BlockFeature, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < questions.size(); ++i) places[questions[i].target].push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (auto& [target, group] : places) groups.push_back(std::move(group));
    return groups;
}

std::vector<double> residual_of(const regression::BlockTable& table, const FittedTarget& fit) {
    BlockFitter fitter(table, fit.target, {});
    fitter.reset(fit.terms);
    return fitter.residual();
}

void check_costs(const BlockCosts& costs) {
    if (std::isnan(costs.main) || std::isnan(costs.pair)) throw std::invalid_argument("costs must be numbers");
}

void check_one_each(std::size_t given, std::size_t fits, const char* name) {
    if (given != fits) throw std::invalid_argument(std::string("give ") + name + " for each fit");
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
    check_costs(costs);
    for (const BlockSearch& search : searches) {
        table_->check_fit({search.target, search.start});
        table_->check_columns(search.columns);
    }
    const regression::BlockTable::Use use(*table_);
    std::vector<BlockFit> found(searches.size());
    const auto groups = by_target(searches);
    parallel_for(groups.size(), options, [&](std::size_t group, int) {
        BlockFitter fitter(*table_, searches[groups[group].front()].target, costs);
        for (const std::size_t i : groups[group]) {
            end_if_stopped();
            const BlockSearch& search = searches[i];
            std::vector<std::int32_t> columns(search.columns);
            std::sort(columns.begin(), columns.end());
            columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
            const auto among = [&](std::int32_t j) {
                return j < 0 || std::binary_search(columns.begin(), columns.end(), j);
            };
            std::vector<BlockTerm> start;
            for (const BlockTerm& term : search.start) {
                if (among(term[0]) && among(term[1])) start.push_back(term);
            }
            fitter.reset(start);
            fitter.search(columns);
            found[i] = {fitter.terms(), fitter.gain()};
        }
    });
    return found;
}

std::vector<std::vector<double>> BlockRegression::main_gains(const std::vector<FittedTarget>& fits,
                                                             const std::vector<std::vector<std::int32_t>>& candidates,
                                                             const BlockCosts& costs, const Options& options) const {
    check_one_each(candidates.size(), fits.size(), "candidates");
    check_costs(costs);
    for (const FittedTarget& fit : fits) table_->check_fit(fit);
    for (const auto& columns : candidates) table_->check_columns(columns);
    const regression::BlockTable::Use use(*table_);
    std::vector<std::vector<double>> found(fits.size());
    const auto groups = by_target(fits);
    parallel_for(groups.size(), options, [&](std::size_t group, int) {
        BlockFitter fitter(*table_, fits[groups[group].front()].target, costs);
        for (const std::size_t i : groups[group]) {
            end_if_stopped();
            fitter.reset(fits[i].terms);
            for (const std::int32_t j : candidates[i]) {
                found[i].push_back(std::max(fitter.best_prior({j, -1, 0}).gain, 0.0));
            }
        }
    });
    return found;
}

std::vector<std::vector<double>> BlockRegression::pair_scores(const std::vector<FittedTarget>& fits,
                                                              const std::vector<std::vector<std::int32_t>>& candidates,
                                                              const std::vector<std::vector<std::int32_t>>& with,
                                                              const Options& options) const {
    check_one_each(candidates.size(), fits.size(), "candidates");
    check_one_each(with.size(), fits.size(), "columns to pair them with");
    for (const FittedTarget& fit : fits) table_->check_fit(fit);
    for (const auto& columns : candidates) table_->check_columns(columns);
    for (const auto& columns : with) table_->check_columns(columns);
    const regression::BlockTable::Use use(*table_);
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
    check_one_each(columns.size(), fits.size(), "a column");
    check_costs(costs);
    for (const FittedTarget& fit : fits) table_->check_fit(fit);
    table_->check_columns(columns);
    const regression::BlockTable::Use use(*table_);
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
    table_->check_fit(fit);
    const regression::BlockTable::Use use(*table_);
    BlockFitter fitter(*table_, fit.target, {});
    fitter.reset(fit.terms);
    const std::vector<double> used = fitter.coefficients();
    std::vector<double> all(fit.terms.size() * width);
    for (std::size_t r = 0; r < used.size(); ++r)
        all[fitter.uses()[r].term * width + fitter.uses()[r].feature] = used[r];
    return all;
}

std::vector<double> BlockRegression::residual(const FittedTarget& fit) const {
    table_->check_fit(fit);
    const regression::BlockTable::Use use(*table_);
    return residual_of(*table_, fit);
}

std::vector<std::vector<ProductGroup>> BlockRegression::products(const std::vector<FittedTarget>& responses,
                                                                 const std::vector<std::vector<FittedTarget>>& sources,
                                                                 const std::vector<std::vector<std::int32_t>>& given,
                                                                 const std::vector<std::vector<double>>& mixtures,
                                                                 std::size_t bin_rows, const Options& options) const {
    check_one_each(sources.size(), responses.size(), "sources");
    check_one_each(given.size(), responses.size(), "conditioning columns");
    check_one_each(mixtures.size(), responses.size(), "a mixture");
    for (const FittedTarget& fit : responses) table_->check_fit(fit);
    for (const auto& fits : sources) {
        if (fits.empty()) throw std::invalid_argument("a response needs at least one source");
        for (const FittedTarget& fit : fits) table_->check_fit(fit);
    }
    for (const auto& columns : given) table_->check_columns(columns);
    for (std::size_t i = 0; i < mixtures.size(); ++i) {
        if (!mixtures[i].empty() && mixtures[i].size() != sources[i].size())
            throw std::invalid_argument("a mixture needs a weight for each source");
        for (const double weight : mixtures[i])
            if (!std::isfinite(weight)) throw std::invalid_argument("the weights of a mixture must be finite");
    }
    if (bin_rows < 1) throw std::invalid_argument("bin_rows must be at least 1");
    const regression::BlockTable::Use use(*table_);
    std::vector<std::vector<ProductGroup>> found(responses.size());
    parallel_for(responses.size(), options, [&](std::size_t i, int) {
        std::vector<double> response = residual_of(*table_, responses[i]);
        const std::vector<std::int32_t> shared = shared_columns(responses[i], sources[i]);
        std::vector<std::vector<std::size_t>> bins;
        for (const std::int32_t j : shared)
            bins.push_back(bins_of(*table_, j, std::min(bin_rows, table_->rows()) * shared.size()));
        for (int round = 0; round < rounds; ++round) {
            for (const auto& bin : bins) take_off_means(response, bin);
        }
        std::vector<std::vector<double>> alone;
        std::vector<double> weights;
        for (const FittedTarget& source : sources[i]) {
            std::vector<double> product = residual_of(*table_, source);
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
        if (!mixtures[i].empty()) {
            std::vector<double> mixture(response.size());
            for (std::size_t k = 0; k < alone.size(); ++k) {
                for (std::size_t row = 0; row < mixture.size(); ++row) mixture[row] += mixtures[i][k] * alone[k][row];
            }
            found[i].push_back(summed(-3, {mixture}, {1.0}));
        }
    });
    return found;
}

}  // namespace knnmi
