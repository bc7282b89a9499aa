#include "permutation.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "indicators.hpp"
#include "kd_tree.hpp"
#include "knnmi/permutation_test.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

// Fisher and Yates, in whole numbers only.
void shuffle(std::span<std::uint32_t> values, RandomWords& random) {
    for (std::size_t left = values.size(); left > 1; --left) {
        std::swap(values[left - 1], values[random.below(static_cast<std::uint32_t>(left))]);
    }
}

void shuffle_rows(std::span<std::uint32_t> rows, RandomWords& random) {
    std::iota(rows.begin(), rows.end(), 0u);
    shuffle(rows, random);
}

}  // namespace

LocalPermutations::LocalPermutations(const Points& z, int m, const Options& options)
    : rows_(z.rows()), each_(std::min(static_cast<std::size_t>(m), rows_)), neighbors_(rows_ * each_) {
    const RowMajor space = with_indicators(z);
    const KdTree tree(space.view());
    parallel_runs(rows_, options, [&](std::size_t begin, std::size_t end) {
        KSmallest nearest(std::max(static_cast<int>(each_) - 1, 1));
        std::vector<std::pair<double, std::size_t>> found;  // distance, and how many rows after the row itself
        for (std::size_t position = begin; position < end; ++position) {
            const std::size_t row = tree.rows()[position];
            std::uint32_t* const list = neighbors_.data() + row * each_;
            list[0] = static_cast<std::uint32_t>(row);
            if (each_ == 1) continue;
            // A tree promises no order among equal distances: all rows as near as the last one are compared.
            double radius = tree.kth_distance(position, nearest);
            found.clear();
            tree.search(tree.points()[position], radius, [&](std::size_t first, std::size_t last) {
                for (std::size_t p = first; p < last; ++p) {
                    const double d = distance(tree.points()[p], tree.points()[position], space.columns());
                    if (d <= radius && p != position) found.emplace_back(d, (rows_ + tree.rows()[p] - row) % rows_);
                }
            });
            const auto wanted = found.begin() + static_cast<std::ptrdiff_t>(each_ - 1);
            std::partial_sort(found.begin(), wanted, found.end());
            for (std::size_t j = 1; j < each_; ++j) {
                list[j] = static_cast<std::uint32_t>((row + found[j - 1].second) % rows_);
            }
        }
    });
}

void LocalPermutations::draw(RandomWords random, std::span<std::uint32_t> source) const {
    std::vector<std::uint32_t> order(rows_), list(each_);
    std::vector<bool> taken(rows_);
    shuffle_rows(order, random);
    for (const std::uint32_t row : order) {
        std::copy_n(neighbors_.begin() + static_cast<std::ptrdiff_t>(row * each_), each_, list.begin());
        // A partial Fisher-Yates shuffle: it stops at the first neighbour that is not taken.
        for (std::size_t left = each_; left > 0; --left) {
            std::uint32_t& drawn = list[random.below(static_cast<std::uint32_t>(left))];
            source[row] = drawn;
            if (!taken[drawn]) break;
            drawn = list[left - 1];
        }
        taken[source[row]] = true;
    }
}

PermutedRows::PermutedRows(const Points& z, const Permutations& permutations, const Options& options)
    : permutations_(permutations) {
    if (permutations.neighbors > 0 && !z.empty()) local_.emplace(z, permutations.neighbors, options);
}

void PermutedRows::draw(std::uint32_t index, std::span<std::uint32_t> source) const {
    RandomWords random(permutations_.seed, permutations_.stream, index);
    if (local_)
        local_->draw(random, source);
    else
        shuffle_rows(source, random);
}

}  // namespace knnmi
