#include "fixed_side.hpp"

#include <algorithm>
#include <utility>

namespace knnmi {

FixedSide::FixedSide(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels)
    : kernels_(&kernels),
      k_(static_cast<std::size_t>(neighborhood.k)),
      order_(z.columns() >= 2 ? SpatialOrder({z}, x) : SpatialOrder({x, z})),
      geometry_(order_.geometry()),
      x_cap_(cap_of(x.is_category(0))),
      terms_(order_.points(), true, neighborhood) {
    if (z.columns() == 1) {
        line_.emplace(z);
    } else {
        x_ = order_.arranged(x);
        find_sets();
    }
}

template <class Compare>
void FixedSide::add_sets(std::vector<std::uint32_t> blocks, const Compare& compare,
                         std::vector<std::uint32_t>& set_of_block) {
    constexpr std::ptrdiff_t large = 12;  // blocks, from which on a search among sorted values is faster than a list
    set_of_block.assign(geometry_.blocks, no_set);
    std::stable_sort(blocks.begin(), blocks.end(), compare);
    for (auto first = blocks.begin(), last = first; first != blocks.end(); first = last) {
        last = std::upper_bound(first, blocks.end(), *first, compare);
        if (last - first < large) continue;
        for (auto block = first; block != last; ++block)
            set_of_block[*block] = static_cast<std::uint32_t>(sets_.size());
        sets_.push_back({{first, last}});
    }
}

void FixedSide::find_sets() {
    const Boxes& boxes = geometry_.block_boxes;
    std::vector<std::uint32_t> equal;  // blocks of equal points
    for (std::size_t b = 0; b < points() / block_size; ++b) {
        bool all = true;
        for (std::size_t c = 0; c < geometry_.dimensions; ++c)
            all = all && boxes.low[c * boxes.stride + b] == boxes.high[c * boxes.stride + b];
        if (all) equal.push_back(static_cast<std::uint32_t>(b));
    }
    const auto compare_z = [&](std::uint32_t a, std::uint32_t b) {
        for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
            const double first = boxes.low[c * boxes.stride + a], second = boxes.low[c * boxes.stride + b];
            if (first != second) return first < second;
        }
        return false;
    };
    add_sets(equal, compare_z, set_in_z_);
    if (sets_.empty()) return;
    for (std::size_t b = 0; b < geometry_.blocks; ++b) {
        const auto first = x_.begin() + static_cast<std::ptrdiff_t>(b * block_size);
        const auto [low, high] = std::minmax_element(first, first + block_size);
        x_low_.push_back(*low);
        x_high_.push_back(*high);
    }
    std::erase_if(equal, [&](std::uint32_t b) { return set_in_z_[b] == no_set || x_low_[b] != x_high_[b]; });
    const auto compare_xz = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(set_in_z_[a], x_low_[a]) < std::pair(set_in_z_[b], x_low_[b]);
    };
    add_sets(equal, compare_xz, set_in_xz_);
}

double FixedSide::z_distance(std::size_t position, std::size_t other) const {
    double largest = 0.0;
    for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
        const double* const column = geometry_.coordinates + c * geometry_.stride;
        const double along = std::abs(column[position] - column[other]);
        largest = std::max(largest, std::min(along, cap_of(geometry_.categories[c] != 0)));
    }
    return largest;
}

RankedColumn FixedSide::ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y,
                               double y_cap) const {
    return RankedColumn(std::move(other), line(), y, y_cap, *kernels_);
}

}  // namespace knnmi
