// The blocks of a SpatialOrder that come near a point, found by way of the groups that come near the point's block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "spatial_order.hpp"

namespace knnmi {

class NearBlocks {
public:
    // `searched` has the boxes of blocks that may be found: those of the geometry, of which some may be infinitely far
    // away.
    NearBlocks(const Geometry& geometry, const Geometry& searched, const Kernels& kernels);

    // What follows is about points of this block, mostly with radii up to the one given.
    void move_to(std::size_t block, double radius);

    // All blocks with points within the radius of a point of the current block, and possibly others. Valid until the
    // next call.
    std::span<const std::uint32_t> within(std::size_t position, double radius);

    // The longest side of the current block.
    double side() const;

private:
    // Box numbers in a buffer that is never shrunk.
    struct Numbers {
        std::vector<std::uint32_t> buffer;
        std::size_t count = 0;
    };

    void find_groups(const BoxQuery& query, Numbers& groups) const;

    Geometry geometry_, searched_;
    const Kernels* kernels_;
    std::vector<std::uint32_t> runs_of_groups_;  // 0, 1, ...: every eight groups
    std::vector<double> low_, high_, point_;
    double radius_ = 0.0;
    Numbers groups_;       // near the current block at radius_
    Numbers wide_groups_;  // near one point, at a larger radius
    Numbers blocks_;
};

}  // namespace knnmi
