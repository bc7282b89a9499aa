#include "knnmi/estimators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "checks.hpp"
#include "engines.hpp"
#include "kd_tree.hpp"
#include "parallel.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

// The only y is `y` as it is.
ColumnSource same(const Points& y) {
    return {.write =
                [y](std::size_t, std::span<double> out) {
                    for (std::size_t i = 0; i < y.rows(); ++i) {
                        for (std::size_t j = 0; j < y.columns(); ++j) out[i * y.columns() + j] = y(i, j);
                    }
                },
            .is_category = [y](std::size_t, std::size_t column) { return y.is_category(column); }};
}

std::vector<double> estimates(const Points& x, const Points& z, const Neighborhood& neighborhood,
                              const ColumnSource& source, std::size_t width, std::size_t count,
                              const Options& options) {
    std::vector<Sum> sums(count);
    make_engine(x, z, neighborhood, width, count, options)->sums(source, width, 0, sums);
    std::vector<double> values(count);
    std::transform(sums.begin(), sums.end(), values.begin(),
                   [&](Sum sum) { return estimate_from(sum, neighborhood.k, x.rows()); });
    return values;
}

}  // namespace

double entropy(const Points& x, int k, const Options& options) {
    if (x.empty()) throw std::invalid_argument("x needs at least one column");
    check_neighbors(k, x.rows());
    check_finite(x, "x");

    const std::size_t n = x.rows();
    const KdTree tree(x);
    std::vector<double> rho(n);
    parallel_runs(n, options, [&](std::size_t begin, std::size_t end) {
        KSmallest nearest(k);
        for (std::size_t p = begin; p < end; ++p) {
            end_if_stopped();
            rho[p] = tree.kth_distance(p, nearest);
        }
    });
    // Added in ascending order, whatever the order of the rows: rounding is then a matter of the values alone.
    std::sort(rho.begin(), rho.end());
    if (rho.front() == 0.0) return -std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (const double distance : rho) sum += std::log(distance);
    const double mean_log = sum / static_cast<double>(n) + std::numbers::ln2;
    return digamma(n) - digamma(static_cast<std::size_t>(k)) + static_cast<double>(x.columns()) * mean_log;
}

double conditional_mutual_information(const Points& x, const Points& y, const Points& z,
                                      const Neighborhood& neighborhood, const Options& options) {
    check_sample(x, y, z, neighborhood.k);
    return estimates(x, z, neighborhood, same(y), y.columns(), 1, options).front();
}

std::vector<double> conditional_mutual_informations(const Points& x, const Points& candidates, const Points& z,
                                                    const Neighborhood& neighborhood, const Options& options) {
    check_sample(x, candidates, z, neighborhood.k);
    const ColumnSource source{.write =
                                  [&](std::size_t j, std::span<double> out) {
                                      for (std::size_t i = 0; i < out.size(); ++i) out[i] = candidates(i, j);
                                  },
                              .is_category = [&](std::size_t j, std::size_t) { return candidates.is_category(j); }};
    return estimates(x, z, neighborhood, source, 1, candidates.columns(), options);
}

NeighborCounts neighbor_counts(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                               const Options& options) {
    check_sample(x, y, z, neighborhood.k);
    return make_engine(x, z, neighborhood, y.columns(), 1, options)->counts(same(y), y.columns(), 0);
}

double estimate_of(const NeighborCounts& counts, int k) {
    const std::size_t n = counts.z.size();
    if (counts.xz.size() != n || counts.yz.size() != n) throw std::invalid_argument("counts differ in length");
    check_neighbors(k, n);
    for (const auto* const of_points : {&counts.xz, &counts.yz, &counts.z})
        if (*std::max_element(of_points->begin(), of_points->end()) >= n)
            throw std::invalid_argument("counts must be below the number of points");
    const Terms terms(n, true, k);
    Sum sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += terms(counts.xz[i], counts.yz[i], counts.z[i], 0);
    return estimate_from(sum, k, n);
}

}  // namespace knnmi
