#include "fixed_side.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace knnmi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Adds a set for each run of blocks that are equal, among those in order, of `large` at least.
template <class Compare>
void add_large_runs(const std::vector<std::uint32_t>& blocks, const Compare& before, std::ptrdiff_t large,
                    std::vector<EqualPoints>& sets) {
    for (auto first = blocks.begin(), last = first; first != blocks.end(); first = last) {
        last = std::upper_bound(first, blocks.end(), *first, before);
        if (last - first >= large) sets.push_back({.blocks = {first, last}});
    }
}

}  // namespace

FixedSide::FixedSide(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels)
    : kernels_(&kernels),
      k_(static_cast<std::size_t>(neighborhood.k)),
      order_(z.columns() >= 2 ? SpatialOrder({z}, x) : SpatialOrder({x, z})),
      geometry_(order_.geometry()),
      x_category_(x.is_category(0)),
      x_cap_(cap_of(x.is_category(0))),
      terms_(order_.points(), true, neighborhood),
      apart_(geometry_) {
    if (z.columns() == 1)
        line_.emplace(z);
    else
        x_ = order_.arranged(x);
    find_sets();
}

// How many blocks of equal points are sooner searched among sorted values than in a list, as measured.
std::ptrdiff_t FixedSide::large() const { return counts_by_line() ? 8 : 12; }

void FixedSide::find_sets() {
    const Boxes& boxes = geometry_.block_boxes;
    std::vector<std::uint32_t> equal;  // blocks of points that are equal in what orders them
    for (std::size_t b = 0; b < points() / block_size; ++b) {
        bool all = true;
        for (std::size_t c = 0; c < geometry_.dimensions; ++c)
            all = all && boxes.low[c * boxes.stride + b] == boxes.high[c * boxes.stride + b];
        if (all) equal.push_back(static_cast<std::uint32_t>(b));
    }
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
            const double first = boxes.low[c * boxes.stride + a], second = boxes.low[c * boxes.stride + b];
            if (first != second) return first < second;
        }
        return false;
    };
    std::stable_sort(equal.begin(), equal.end(), before);
    add_large_runs(equal, before, large(), sets_);
    if (sets_.empty()) return;
    in_set_.assign(geometry_.blocks, false);
    for (const EqualPoints& set : sets_)
        for (const std::uint32_t block : set.blocks) in_set_[block] = true;
    if (counts_by_line()) {
        in_inner_set_ = in_set_;
    } else {
        sets_in_z_ = sets_.size();
        find_sets_within();
    }
    separate();
}

void FixedSide::find_sets_within() {
    for (std::size_t b = 0; b < geometry_.blocks; ++b) {
        const auto first = x_.begin() + static_cast<std::ptrdiff_t>(b * block_size);
        const auto [low, high] = std::minmax_element(first, first + block_size);
        x_low_.push_back(*low);
        x_high_.push_back(*high);
    }
    // Points that are equal in z are ordered by x: their blocks overlap at most in their ends.
    const auto before_in_x = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(x_low_[a], x_high_[a]) < std::pair(x_low_[b], x_high_[b]);
    };
    in_inner_set_.assign(geometry_.blocks, false);
    for (std::size_t s = 0; s < sets_in_z_; ++s) {
        std::vector<std::uint32_t>& blocks = sets_[s].blocks;
        std::sort(blocks.begin(), blocks.end(), before_in_x);
        std::vector<std::uint32_t> rest = blocks, constant;
        for (const std::uint32_t block : rest)
            if (x_low_[block] == x_high_[block]) constant.push_back(block);
        const std::size_t first_within = sets_.size();
        add_large_runs(constant, before_in_x, large(), sets_);
        for (std::size_t inner = first_within; inner < sets_.size(); ++inner)
            for (const std::uint32_t block : sets_[inner].blocks) in_inner_set_[block] = true;
        std::erase_if(rest, [&](std::uint32_t block) { return in_inner_set_[block]; });
        sets_[s].loose = std::move(rest);
        sets_[s].first_within = first_within;
        sets_[s].last_within = sets_.size();
    }
}

// Makes boxes in which blocks of sets are infinitely far away.
void FixedSide::separate() {
    const auto copy = [](const double* values, std::size_t count) {
        return AlignedVector<double>(values, values + count);
    };
    const std::size_t stride = geometry_.block_boxes.stride, group_stride = geometry_.group_boxes.stride;
    block_low_ = copy(geometry_.block_boxes.low, stride * geometry_.dimensions);
    block_high_ = copy(geometry_.block_boxes.high, stride * geometry_.dimensions);
    group_low_.assign(group_stride * geometry_.dimensions, infinity);
    group_high_.assign(group_stride * geometry_.dimensions, infinity);
    for (std::size_t c = 0; c < geometry_.dimensions; ++c)
        for (std::size_t b = 0; b < geometry_.blocks; ++b) {
            double &low = block_low_[c * stride + b], &high = block_high_[c * stride + b];
            if (in_set_[b]) {
                low = high = infinity;
                continue;
            }
            double& group_low = group_low_[c * group_stride + b / group_size];
            double& group_high = group_high_[c * group_stride + b / group_size];
            group_high = group_low == infinity ? high : std::max(group_high, high);
            group_low = std::min(group_low, low);
        }
    apart_.block_boxes = {block_low_.data(), block_high_.data(), stride};
    apart_.group_boxes = {group_low_.data(), group_high_.data(), group_stride};
}

FixedSide::NearInSet FixedSide::near_in_set(const EqualPoints& set, std::size_t position, double radius) const {
    const double x = x_[position];
    const auto below = [&](std::uint32_t block) { return std::min(x - x_high_[block], x_cap_) > radius; };
    const auto reached = [&](std::uint32_t block) { return std::min(x_low_[block] - x, x_cap_) <= radius; };
    const auto first = std::partition_point(set.loose.begin(), set.loose.end(), below);
    const auto last = std::partition_point(first, set.loose.end(), reached);
    const auto begin = sets_.begin() + static_cast<std::ptrdiff_t>(set.first_within);
    const auto end = sets_.begin() + static_cast<std::ptrdiff_t>(set.last_within);
    const auto first_set =
        std::partition_point(begin, end, [&](const EqualPoints& within) { return below(within.blocks.front()); });
    const auto last_set =
        std::partition_point(first_set, end, [&](const EqualPoints& within) { return reached(within.blocks.front()); });
    return {.loose = {first, last},
            .first_within = static_cast<std::size_t>(first_set - sets_.begin()),
            .last_within = static_cast<std::size_t>(last_set - sets_.begin())};
}

double FixedSide::distance(std::size_t position, std::size_t other) const {
    double largest = 0.0;
    for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
        const double* const column = geometry_.coordinates + c * geometry_.stride;
        const double along = std::abs(column[position] - column[other]);
        largest = std::max(largest, std::min(along, cap_of(geometry_.categories[c] != 0)));
    }
    return largest;
}

RankedColumn FixedSide::ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y, double y_cap,
                               RankedColumn::Counts counts) const {
    return RankedColumn(std::move(other), line(), y, y_cap, *kernels_, counts);
}

}  // namespace knnmi
