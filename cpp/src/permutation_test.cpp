#include "knnmi/permutation_test.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "checks.hpp"
#include "engines.hpp"
#include "parallel.hpp"
#include "permutation.hpp"
#include "stopping.hpp"

namespace knnmi {
namespace {

void check(const Permutations& permutations, std::size_t rows) {
    if (permutations.count < 1) throw std::invalid_argument("permutations must be at least 1");
    if (permutations.neighbors < 0) throw std::invalid_argument("neighbors must be 0 (permute over all rows) or more");
    if (permutations.season < 1 || permutations.season > std::max<std::size_t>(rows, 1)) {
        throw std::invalid_argument("season must be 1 to the number of rows");
    }
    if (permutations.season > 1 && permutations.block_length == 0) {
        throw std::invalid_argument("season is of blocks: give block_length");
    }
    if (permutations.season > 1 && permutations.neighbors > 0 && permutations.block_length % permutations.season > 0) {
        throw std::invalid_argument("with neighbors block_length must be a multiple of season");
    }
    if (permutations.groups.empty()) {
        if (permutations.whole_groups) throw std::invalid_argument("whole_groups needs groups: a label for each row");
        return;
    }
    if (permutations.groups.size() != rows) throw std::invalid_argument("groups must hold a label for each row");
    if (permutations.block_length > 0) throw std::invalid_argument("block_length is for rows without groups");
    if (permutations.whole_groups && permutations.neighbors > 0) {
        throw std::invalid_argument("whole_groups permutes over all groups: neighbors must be 0");
    }
}

// The sums for the observed y, which is number 0, and for those of permutations 0, 1, ..., which follow.
class PermutedSums {
public:
    PermutedSums(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                 const Permutations& permutations, std::size_t count, const Options& options)
        : y_(y),
          rows_(z.empty() ? Points::none(x.rows()) : z, permutations, options),
          engine_(make_engine(x, z, neighborhood, y.columns(), count, options,
                              permutations.neighbors == 0 ? &y_ : nullptr)) {}

    void write(std::size_t first, std::span<Sum> out) {
        const ColumnSource source{
            .write = [this](std::size_t index, std::span<double> values) { fill(index, values); },
            .is_category = [this](std::size_t, std::size_t column) { return y_.is_category(column); },
            .rows = [this](std::size_t index, std::span<std::uint32_t> row) { draw(index, row); }};
        engine_->sums(source, y_.columns(), first, out);
    }

private:
    void draw(std::size_t index, std::span<std::uint32_t> row) const {
        if (index > 0)
            rows_.draw(static_cast<std::uint32_t>(index - 1), row);
        else
            std::iota(row.begin(), row.end(), 0u);
    }

    void fill(std::size_t index, std::span<double> out) const {
        std::vector<std::uint32_t> row(y_.rows());
        draw(index, row);
        for (std::size_t i = 0; i < row.size(); ++i) {
            for (std::size_t j = 0; j < y_.columns(); ++j) out[i * y_.columns() + j] = y_(row[i], j);
        }
    }

    Points y_;
    PermutedRows rows_;
    std::unique_ptr<NeighborEngine> engine_;
};

// Calls consume(sums, look) for the permutations up to one look after another, the observed one's sum before them;
// false from it ends the rounds. So memory is needed for one round only.
template <class Consume>
void each_round(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                const Permutations& permutations, const std::vector<int>& looks, const Options& options,
                const Consume& consume) {
    const auto end_of = [&](std::size_t look) { return static_cast<std::size_t>(looks[look]) + 1; };
    PermutedSums permuted(x, y, z, neighborhood, permutations, end_of(0), options);
    std::vector<Sum> sums;
    std::size_t first = 0;
    for (std::size_t look = 0; look < looks.size(); ++look) {
        sums.resize(end_of(look) - first);
        permuted.write(first, sums);
        if (!consume(std::span<const Sum>(sums), look)) return;
        first += sums.size();
    }
}

}  // namespace

PermutationResult permutation_test(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                                   const Permutations& permutations, const Stopping& stopping, const Options& options) {
    check_sample(x, y, z, neighborhood.k);
    check(permutations, x.rows());
    const std::shared_ptr<const StoppingRule> rule = StoppingRule::of(stopping, permutations.count);
    Sum observed = 0;
    int made = -1, at_least = -1;  // the observed one, which comes first, reaches itself
    double best = 1.0;
    each_round(
        x, y, z, neighborhood, permutations, rule->looks(), options, [&](std::span<const Sum> sums, std::size_t look) {
            if (made < 0) observed = sums.front();
            // The smaller the sum, the larger the estimate.
            at_least +=
                static_cast<int>(std::count_if(sums.begin(), sums.end(), [&](Sum sum) { return sum <= observed; }));
            made += static_cast<int>(sums.size());
            best = std::max(best, wealth(at_least, made, stopping.alpha));
            return !rule->ends(at_least, look);
        });
    return {estimate_from(observed, neighborhood.k, x.rows()), at_least, made, 1.0 / best};
}

PermutedStatistics permuted_statistics(const Points& x, const Points& y, const Points& z,
                                       const Neighborhood& neighborhood, const Permutations& permutations,
                                       const Options& options) {
    check_sample(x, y, z, neighborhood.k);
    check(permutations, x.rows());
    std::vector<double> statistics;
    statistics.reserve(1 + static_cast<std::size_t>(permutations.count));
    const StoppingRule all({}, permutations.count);
    each_round(x, y, z, neighborhood, permutations, all.looks(), options, [&](std::span<const Sum> sums, std::size_t) {
        for (const Sum sum : sums) statistics.push_back(estimate_from(sum, neighborhood.k, x.rows()));
        return true;
    });
    return {statistics.front(), {statistics.begin() + 1, statistics.end()}};
}

std::vector<std::uint32_t> permuted_rows(const Points& z, const Permutations& permutations, std::uint32_t first,
                                         const Options& options) {
    check(permutations, z.rows());
    check_neighbors(1, z.rows());
    check_finite(z, "z");
    check_categories(z, "z");
    const PermutedRows rows(z, permutations, options);
    const auto count = static_cast<std::size_t>(permutations.count);
    std::vector<std::uint32_t> drawn(count * z.rows());
    parallel_for(count, options, [&](std::size_t t, int) {
        rows.draw(first + static_cast<std::uint32_t>(t), std::span(drawn).subspan(t * z.rows(), z.rows()));
    });
    return drawn;
}

std::vector<std::uint32_t> swapped_rows(const Points& z, const Permutations& permutations, std::uint32_t first,
                                        const Options& options) {
    if (z.empty()) return permuted_rows(z, permutations, first, options);
    check(permutations, z.rows());
    if (permutations.neighbors < 1) throw std::invalid_argument("swaps need neighbors: at least 1, the row itself");
    if (!permutations.groups.empty() || permutations.block_length > 0) {
        throw std::invalid_argument("rows with z swap with their neighbors only: give no groups and no block_length");
    }
    check_neighbors(1, z.rows());
    check_finite(z, "z");
    check_categories(z, "z");
    const LocalPermutations local(z, permutations.neighbors, options);
    const auto swaps = [&](std::uint32_t index) { return RandomWords(permutations.seed, permutations.stream, index); };
    std::vector<std::uint32_t> shared(z.rows());
    local.draw_swaps(swaps(std::numeric_limits<std::uint32_t>::max()), shared);
    std::vector<std::uint32_t> drawn(static_cast<std::size_t>(permutations.count) * z.rows());
    parallel_for(static_cast<std::size_t>(permutations.count), options, [&](std::size_t t, int) {
        const std::span<std::uint32_t> source = std::span(drawn).subspan(t * z.rows(), z.rows());
        local.draw_swaps(swaps(first + static_cast<std::uint32_t>(t)), source);
        for (std::uint32_t& row : source) row = shared[row];
    });
    return drawn;
}

}  // namespace knnmi
