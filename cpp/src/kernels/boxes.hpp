// Points within a radius that may be large: boxes that lie within it are counted whole.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(group_size == lanes);

// The first of so many that are left, eight at most.
inline unsigned first_of(std::size_t left) { return left < lanes ? (1u << left) - 1 : (1u << lanes) - 1; }

struct NearBoxes {
    unsigned partly, whole;
};

// Of eight boxes, which come within the radius of the center in part and which as a whole. Rounded differences are
// monotone: that from an end of a box is not below that from a point inside.
inline NearBoxes near_boxes(const Geometry& geometry, const Boxes& boxes, std::size_t first, std::size_t count,
                            const double* center, Doubles radius) {
    Doubles least = broadcast(0.0), most = least;
    for (std::size_t c = 0; c < geometry.dimensions; ++c) {
        const Doubles own = broadcast(center[c]), cap = broadcast(cap_of(geometry.categories[c] != 0));
        const Doubles low = load(boxes.low + c * boxes.stride + first);
        const Doubles high = load(boxes.high + c * boxes.stride + first);
        least = max(least, min(max(subtract(low, own), subtract(own, high)), cap));
        most = max(most, min(max(subtract(own, low), subtract(high, own)), cap));
    }
    const unsigned there = first_of(count - first), whole = bits(less_equal(most, radius)) & there;
    return {bits(less_equal(least, radius)) & there & ~whole, whole};
}

inline std::size_t within_block(const Geometry& geometry, std::size_t block, std::size_t points, const double* center,
                                Doubles radius) {
    std::size_t found = 0;
    for (std::size_t first = block * block_size; first < (block + 1) * block_size && first < points; first += lanes) {
        Doubles distances = broadcast(0.0);
        for (std::size_t c = 0; c < geometry.dimensions; ++c) {
            const Doubles coordinates = load(geometry.coordinates + c * geometry.stride + first);
            const Doubles cap = broadcast(cap_of(geometry.categories[c] != 0));
            distances = max(distances, min(absolute(subtract(coordinates, broadcast(center[c]))), cap));
        }
        found += count(bits(less_equal(distances, radius)) & first_of(points - first));
    }
    return found;
}

inline std::size_t within_boxes(const Geometry& geometry, std::size_t points, const double* center, double radius) {
    const Doubles reach = broadcast(radius);
    const auto size = [points](std::size_t box, std::size_t each) {  // the last ones of each are not full
        return (box + 1) * each < points ? each : points - box * each;
    };
    std::size_t found = 0;
    for (std::size_t first = 0; first < geometry.groups; first += lanes) {
        const NearBoxes groups = near_boxes(geometry, geometry.group_boxes, first, geometry.groups, center, reach);
        each_bit(groups.whole, [&](std::size_t g) { found += size(first + g, group_size * block_size); });
        each_bit(groups.partly, [&](std::size_t g) {
            const std::size_t begin = (first + g) * group_size;
            const NearBoxes blocks = near_boxes(geometry, geometry.block_boxes, begin, geometry.blocks, center, reach);
            each_bit(blocks.whole, [&](std::size_t b) { found += size(begin + b, block_size); });
            each_bit(blocks.partly,
                     [&](std::size_t b) { found += within_block(geometry, begin + b, points, center, reach); });
        });
    }
    return found;
}

}  // namespace knnmi::KNNMI_ISA
