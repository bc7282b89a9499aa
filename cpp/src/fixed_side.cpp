#include "fixed_side.hpp"

#include <algorithm>
#include <cmath>

namespace knnmi {

FixedSide::FixedSide(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels)
    : kernels_(&kernels),
      k_(static_cast<std::size_t>(neighborhood.k)),
      order_(z.columns() >= 2 ? SpatialOrder({z}, x) : SpatialOrder({x, z})),
      geometry_(order_.geometry()),
      x_cap_(cap_of(x.is_category(0))),
      terms_(order_.points(), !z.empty(), neighborhood) {
    if (z.columns() >= 2) {
        x_ = order_.arranged(x);
        find_equal_in_z();
    }
    if (z.columns() == 1) line_.emplace(z);
}

void FixedSide::find_equal_in_z() {
    constexpr std::size_t large = 12;  // blocks, from which on a search among sorted values is faster than a list
    const Boxes& boxes = geometry_.block_boxes;
    std::vector<std::uint32_t> pure;
    for (std::size_t b = 0; b < points() / block_size; ++b) {
        bool equal = true;
        for (std::size_t c = 0; c < geometry_.dimensions; ++c)
            equal = equal && boxes.low[c * boxes.stride + b] == boxes.high[c * boxes.stride + b];
        if (equal) pure.push_back(static_cast<std::uint32_t>(b));
    }
    const auto compare = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
            const double first = boxes.low[c * boxes.stride + a], second = boxes.low[c * boxes.stride + b];
            if (first != second) return first < second;
        }
        return false;
    };
    std::stable_sort(pure.begin(), pure.end(), compare);
    for (auto first = pure.begin(), last = first; first != pure.end(); first = last) {
        last = std::upper_bound(first, pure.end(), *first, compare);
        if (static_cast<std::size_t>(last - first) >= large) equal_in_z_.push_back({{first, last}});
    }
    if (equal_in_z_.empty()) return;
    set_of_block_.assign(geometry_.blocks, no_set);
    for (std::size_t set = 0; set < equal_in_z_.size(); ++set)
        for (const std::uint32_t block : equal_in_z_[set].blocks)
            set_of_block_[block] = static_cast<std::uint32_t>(set);
    for (std::size_t b = 0; b < geometry_.blocks; ++b) {
        const auto first = x_.begin() + static_cast<std::ptrdiff_t>(b * block_size);
        const auto [low, high] = std::minmax_element(first, first + block_size);
        x_low_.push_back(*low);
        x_high_.push_back(*high);
    }
}

double FixedSide::z_distance(std::size_t position, const EqualInZ& set) const {
    double largest = 0.0;
    for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
        const double* const column = geometry_.coordinates + c * geometry_.stride;
        const double along = std::abs(column[position] - column[set.position()]);
        largest = std::max(largest, std::min(along, cap_of(geometry_.categories[c] != 0)));
    }
    return largest;
}

RankedColumn FixedSide::ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y,
                               double y_cap) const {
    return RankedColumn(std::move(other), line(), y, y_cap, *kernels_);
}

}  // namespace knnmi
