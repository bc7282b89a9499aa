// Points within a radius that may be large: boxes that lie within it are counted whole.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(group_size == lanes);

// The first of so many that are left, eight at most.
inline unsigned first_of(std::size_t left) { return left < lanes ? (1u << left) - 1 : (1u << lanes) - 1; }

// A geometry around a center. With the number of dimensions known beforehand, none of them a category; or with any
// number, 0.
template <std::size_t Dimensions>
class AroundCenter {
public:
    AroundCenter(const Geometry& geometry, std::size_t points, const double* center, double radius)
        : geometry_(geometry), points_(points), center_(center), radius_(broadcast(radius)) {}

    std::size_t within() const {
        std::size_t found = 0;
        for (std::size_t first = 0; first < geometry_.groups; first += lanes) {
            const NearBoxes groups = near(geometry_.group_boxes, first, geometry_.groups);
            each_bit(groups.whole, [&](std::size_t g) { found += size(first + g, group_size * block_size); });
            each_bit(groups.partly, [&](std::size_t g) {
                const std::size_t begin = (first + g) * group_size;
                const NearBoxes blocks = near(geometry_.block_boxes, begin, geometry_.blocks);
                each_bit(blocks.whole, [&](std::size_t b) { found += size(begin + b, block_size); });
                each_bit(blocks.partly, [&](std::size_t b) { found += within_block(begin + b); });
            });
        }
        return found;
    }

private:
    struct NearBoxes {
        unsigned partly, whole;
    };

    std::size_t dimensions() const { return Dimensions != 0 ? Dimensions : geometry_.dimensions; }

    // The last ones of each are not full.
    std::size_t size(std::size_t box, std::size_t each) const {
        return (box + 1) * each < points_ ? each : points_ - box * each;
    }

    [[gnu::always_inline]] Doubles capped(Doubles distances, std::size_t c) const {
        if constexpr (Dimensions != 0) return distances;
        return min(distances, broadcast(cap_of(geometry_.categories[c] != 0)));
    }

    // Of eight boxes, which come within the radius of the center in part and which as a whole. Rounded differences are
    // monotone: that from an end of a box is not below that from a point inside.
    [[gnu::always_inline]] NearBoxes near(const Boxes& boxes, std::size_t first, std::size_t count) const {
        Doubles least = broadcast(0.0), most = least;
        for (std::size_t c = 0; c < dimensions(); ++c) {
            const Doubles own = broadcast(center_[c]);
            const Doubles low = load(boxes.low + c * boxes.stride + first);
            const Doubles high = load(boxes.high + c * boxes.stride + first);
            least = max(least, capped(max(subtract(low, own), subtract(own, high)), c));
            most = max(most, capped(max(subtract(own, low), subtract(high, own)), c));
        }
        const unsigned there = first_of(count - first), whole = bits(less_equal(most, radius_)) & there;
        return {bits(less_equal(least, radius_)) & there & ~whole, whole};
    }

    [[gnu::always_inline]] std::size_t within_block(std::size_t block) const {
        std::size_t found = 0;
        for (std::size_t first = block * block_size; first < (block + 1) * block_size && first < points_;
             first += lanes) {
            Doubles distances = broadcast(0.0);
            for (std::size_t c = 0; c < dimensions(); ++c) {
                const Doubles coordinates = load(geometry_.coordinates + c * geometry_.stride + first);
                distances = max(distances, capped(absolute(subtract(coordinates, broadcast(center_[c]))), c));
            }
            found += count(bits(less_equal(distances, radius_)) & first_of(points_ - first));
        }
        return found;
    }

    const Geometry& geometry_;
    std::size_t points_;
    const double* center_;
    Doubles radius_;
};

inline std::size_t within_boxes(const Geometry& geometry, std::size_t points, const double* center, double radius) {
    bool categories = false;
    for (std::size_t c = 0; c < geometry.dimensions; ++c) categories |= geometry.categories[c] != 0;
    switch (categories ? 0 : geometry.dimensions) {
        case 2:
            return AroundCenter<2>(geometry, points, center, radius).within();
        case 3:
            return AroundCenter<3>(geometry, points, center, radius).within();
        default:
            return AroundCenter<0>(geometry, points, center, radius).within();
    }
}

}  // namespace knnmi::KNNMI_ISA
