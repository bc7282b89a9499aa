#include "permutation.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "indicators.hpp"
#include "kd_tree.hpp"
#include "knnmi/permutation_test.hpp"
#include "labels.hpp"
#include "parallel.hpp"
#include "row_major.hpp"

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

// z and, with labels, a column in which rows of other labels are farther away than any row can be in z.
RowMajor with_labels(const Points& z, std::span<const std::uint32_t> labels) {
    RowMajor points(z.rows(), z.columns() + (labels.empty() ? 0 : 1));
    double largest = 0.0;
    for (std::size_t i = 0; i < z.rows(); ++i) {
        for (std::size_t j = 0; j < z.columns(); ++j) {
            points[i][j] = z(i, j);
            largest = std::max(largest, std::abs(z(i, j)));
        }
    }
    for (std::size_t i = 0; i < labels.size(); ++i) points[i][z.columns()] = (2.0 * largest + 1.0) * labels[i];
    return points;
}

// For each row the next one that is equal to it, the first one again for the last.
std::vector<std::uint32_t> next_equal(const Points& points) {
    RowLabels equal;
    const Labels& labels = equal.of(points);
    const std::size_t n = labels.size();
    std::vector<std::uint32_t> next(n), seen(n);  // seen: of each label the row looked at last
    for (std::size_t i = 2 * n; i-- > 0;) {       // twice, so that the last rows come to know the first ones
        const std::size_t row = i % n;
        next[row] = std::exchange(seen[labels[row]], static_cast<std::uint32_t>(row));
    }
    return next;
}

// Stretch number b of `length` rows of z as a row of its own, after the first `rest` rows.
RowMajor courses(const Points& z, std::size_t length, std::size_t rest) {
    RowMajor points((z.rows() - rest) / length, length * z.columns());
    for (std::size_t b = 0; b < points.rows(); ++b) {
        for (std::size_t i = 0; i < length * z.columns(); ++i) {
            points[b][i] = z(rest + b * length + i / z.columns(), i % z.columns());
        }
    }
    return points;
}

}  // namespace

LocalPermutations::LocalPermutations(const Points& z, int m, const Options& options,
                                     std::span<const std::uint32_t> labels)
    : rows_(z.rows()), each_(std::min(static_cast<std::size_t>(m), rows_)), neighbors_(rows_ * each_) {
    const RowMajor space = with_indicators(z);
    const RowMajor points = with_labels(space.view(), labels);
    const KdTree tree(points.view());
    std::vector<std::uint32_t> next;
    std::once_flag made;
    // More rows at one distance than that are so many that few others lie between them.
    const std::size_t enough = each_ + static_cast<std::size_t>(std::sqrt(static_cast<double>(each_ * rows_)));
    parallel_runs(rows_, options, [&](std::size_t begin, std::size_t end) {
        KSmallest nearest(std::max(static_cast<int>(each_) - 1, 1));
        std::vector<std::pair<double, std::size_t>> found;  // distance, and how many rows after the row itself
        for (std::size_t position = begin; position < end; ++position) {
            end_if_stopped();
            const std::size_t row = tree.rows()[position];
            std::uint32_t* const list = neighbors_.data() + row * each_;
            list[0] = static_cast<std::uint32_t>(row);
            if (each_ == 1) continue;
            double radius = tree.kth_distance(position, nearest);
            if (radius == 0.0) {  // as many rows are equal to it, and maybe very many more
                std::call_once(made, [&] { next = next_equal(points.view()); });
                for (std::size_t j = 1; j < each_; ++j) list[j] = next[list[j - 1]];
                continue;
            }
            // A tree promises no order among equal distances: all rows as near as the last one are compared, or, where
            // they are very many, found among the rows that follow.
            const double* const center = tree.points()[position];
            const auto collect = [&](double reach) {
                found.clear();
                tree.search(center, reach, [&](std::size_t first, std::size_t last) {
                    if (found.size() > enough) reach = -1.0;
                    for (std::size_t p = first; p < last; ++p) {
                        const double d = distance(tree.points()[p], center, points.columns());
                        if (d <= reach && p != position) found.emplace_back(d, (rows_ + tree.rows()[p] - row) % rows_);
                    }
                });
            };
            collect(radius);
            if (found.size() > enough) {
                collect(std::nextafter(radius, -1.0));
                for (std::size_t after = 1; found.size() + 1 < each_; ++after) {
                    const std::size_t other = (row + after) % rows_;
                    if (distance(points[other], points[row], points.columns()) == radius)
                        found.emplace_back(radius, after);
                }
            }
            const auto wanted = found.begin() + static_cast<std::ptrdiff_t>(each_ - 1);
            std::partial_sort(found.begin(), wanted, found.end());
            for (std::size_t j = 1; j < each_; ++j) {
                const std::size_t other = (row + found[j - 1].second) % rows_;
                const bool apart = !labels.empty() && labels[other] != labels[row];
                list[j] = static_cast<std::uint32_t>(apart ? row : other);
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

void LocalPermutations::draw_swaps(RandomWords random, std::span<std::uint32_t> source) const {
    std::vector<std::uint32_t> order(rows_), free(each_);
    shuffle_rows(order, random);
    std::iota(source.begin(), source.end(), 0u);
    for (const std::uint32_t row : order) {
        if (source[row] != row) continue;
        const std::uint32_t* const list = neighbors_.data() + row * each_;
        std::uint32_t count = 0;
        for (std::size_t j = 0; j < each_; ++j) {  // without branches: which rows are free is hard to foresee
            const std::uint32_t other = list[j];
            free[count] = other;
            count += static_cast<std::uint32_t>(source[other] == other && other != row);
        }
        if (count == 0) continue;
        const std::uint32_t other = free[random.below(count)];
        source[row] = other;
        source[other] = row;
    }
}

GroupPermutations::GroupPermutations(std::span<const std::uint32_t> labels) : rows_(labels.size()) {
    std::iota(rows_.begin(), rows_.end(), 0u);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [labels](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (i == 0 || labels[rows_[i]] != labels[rows_[i - 1]]) begin_.push_back(i);
    }
    begin_.push_back(rows_.size());
}

void GroupPermutations::draw_within(RandomWords random, std::span<std::uint32_t> source) const {
    std::vector<std::uint32_t> drawn = rows_;
    for (std::size_t g = 0; g + 1 < begin_.size(); ++g) {
        shuffle(std::span(drawn).subspan(begin_[g], begin_[g + 1] - begin_[g]), random);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) source[rows_[i]] = drawn[i];
}

void GroupPermutations::draw_whole(RandomWords random, std::span<std::uint32_t> source) const {
    std::vector<std::uint32_t> order(begin_.size() - 1);
    shuffle_rows(order, random);
    std::size_t place = 0;
    for (const std::uint32_t g : order) {
        for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) source[rows_[place++]] = rows_[i];
    }
}

void permute_blocks(std::size_t length, std::size_t season, RandomWords random, std::span<std::uint32_t> source) {
    const std::size_t seasons = source.size() / season, n = seasons * season;
    const std::size_t blocks = std::max<std::size_t>(2, n / length);
    const std::size_t from = season * random.below(static_cast<std::uint32_t>(seasons));
    std::size_t place = season * random.below(static_cast<std::uint32_t>(seasons));
    std::vector<std::uint32_t> order(blocks);
    shuffle_rows(order, random);
    std::iota(source.begin(), source.end(), 0u);
    for (const std::size_t b : order) {
        for (std::size_t i = season * (b * seasons / blocks); i < season * ((b + 1) * seasons / blocks); ++i) {
            source[place++ % n] = static_cast<std::uint32_t>((from + i) % n);
        }
    }
}

LocalBlockPermutations::LocalBlockPermutations(const Points& z, int m, std::size_t length, const Options& options)
    : length_(std::min(length, z.rows())),
      rest_(z.rows() % length_),
      count_(z.rows() / length_),
      blocks_(courses(with_indicators(z).view(), length_, rest_).view(), m, options) {}

void LocalBlockPermutations::draw(RandomWords random, std::span<std::uint32_t> source) const {
    std::vector<std::uint32_t> blocks(count_);
    blocks_.draw(random, blocks);
    std::iota(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(rest_), 0u);
    for (std::size_t b = 0; b < count_; ++b) {
        for (std::size_t i = 0; i < length_; ++i) {
            source[rest_ + b * length_ + i] = static_cast<std::uint32_t>(rest_ + blocks[b] * length_ + i);
        }
    }
}

PermutedRows::PermutedRows(const Points& z, const Permutations& permutations, const Options& options)
    : permutations_(permutations) {
    const bool local = permutations.neighbors > 0 && !z.empty();
    if (local && permutations.block_length > 0)
        local_blocks_.emplace(z, permutations.neighbors, permutations.block_length, options);
    else if (local)
        local_.emplace(z, permutations.neighbors, options, permutations.groups);
    else if (!permutations.groups.empty())
        groups_.emplace(permutations.groups);
}

void PermutedRows::draw(std::uint32_t index, std::span<std::uint32_t> source) const {
    RandomWords random(permutations_.seed, permutations_.stream, index);
    if (local_blocks_)
        local_blocks_->draw(random, source);
    else if (local_)
        local_->draw(random, source);
    else if (groups_ && permutations_.whole_groups)
        groups_->draw_whole(random, source);
    else if (groups_)
        groups_->draw_within(random, source);
    else if (permutations_.block_length > 0)
        permute_blocks(permutations_.block_length, permutations_.season, random, source);
    else
        shuffle_rows(source, random);
}

}  // namespace knnmi
