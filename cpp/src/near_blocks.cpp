#include "near_blocks.hpp"

#include <algorithm>
#include <numeric>

namespace knnmi {

NearBlocks::NearBlocks(const Geometry& geometry, const Geometry& searched, const Kernels& kernels)
    : geometry_(geometry),
      searched_(searched),
      kernels_(&kernels),
      runs_of_groups_((geometry.groups + group_size - 1) / group_size),
      low_(geometry.dimensions),
      high_(geometry.dimensions),
      point_(geometry.dimensions) {
    groups_.buffer.resize(runs_of_groups_.size() * group_size);
    wide_groups_.buffer.resize(groups_.buffer.size());
    blocks_.buffer.resize(geometry.groups * group_size);
    std::iota(runs_of_groups_.begin(), runs_of_groups_.end(), 0u);
}

void NearBlocks::move_to(std::size_t block, double radius) {
    const Boxes& boxes = geometry_.block_boxes;
    for (std::size_t c = 0; c < geometry_.dimensions; ++c) {
        low_[c] = boxes.low[c * boxes.stride + block];
        high_[c] = boxes.high[c * boxes.stride + block];
    }
    radius_ = radius;
    find_groups({low_.data(), high_.data(), radius}, groups_);
}

std::span<const std::uint32_t> NearBlocks::within(std::size_t position, double radius) {
    for (std::size_t c = 0; c < geometry_.dimensions; ++c)
        point_[c] = geometry_.coordinates[c * geometry_.stride + position];
    const BoxQuery query{point_.data(), point_.data(), radius};
    if (radius > radius_) find_groups(query, wide_groups_);
    const Numbers& groups = radius > radius_ ? wide_groups_ : groups_;
    blocks_.count =
        kernels_->boxes_within(searched_.block_boxes, geometry_.dimensions, geometry_.categories, geometry_.blocks,
                               query, groups.buffer.data(), groups.count, blocks_.buffer.data());
    return {blocks_.buffer.data(), blocks_.count};
}

double NearBlocks::side() const {
    double side = 0.0;
    for (std::size_t c = 0; c < geometry_.dimensions; ++c) side = std::max(side, high_[c] - low_[c]);
    return side;
}

void NearBlocks::find_groups(const BoxQuery& query, Numbers& groups) const {
    groups.count =
        kernels_->boxes_within(searched_.group_boxes, geometry_.dimensions, geometry_.categories, geometry_.groups,
                               query, runs_of_groups_.data(), runs_of_groups_.size(), groups.buffer.data());
}

}  // namespace knnmi
