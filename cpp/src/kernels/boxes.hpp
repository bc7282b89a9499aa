// Points within radii that may be large: boxes that lie within one are counted whole.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(group_size == lanes);

// The first of so many that are left, eight at most.
inline unsigned first_of(std::size_t left) { return left < lanes ? (1u << left) - 1 : (1u << lanes) - 1; }

// Of radii in ascending order, with eight more numbers after them, the first that is not smaller than a value: from
// `begin` on, or else `end`.
[[gnu::always_inline]] inline std::size_t first_at_least(const double* radius, std::size_t begin, std::size_t end,
                                                         Doubles value) {
    for (; begin < end; begin += lanes) {
        const unsigned larger = bits(less_equal(value, load(radius + begin)));
        if (larger == 0) continue;
        begin += static_cast<std::size_t>(__builtin_ctz(larger));
        break;
    }
    return begin < end ? begin : end;
}

// A geometry around a center. With the number of dimensions known beforehand, none of them a category; or with any
// number, 0.
template <std::size_t Dimensions>
class AroundCenter {
public:
    // Radii as first_at_least has them. Places in `more` are for what is within a radius but not within the one before.
    AroundCenter(const Geometry& geometry, std::size_t points, const double* center, const double* radius,
                 std::uint32_t* more)
        : geometry_(geometry), points_(points), center_(center), radius_(radius), more_(more) {}

    void count_all(std::size_t radii) const {
        if (radii == 0) return;
        each_box(geometry_.group_boxes, 0, geometry_.groups, group_size * block_size, {0, radii},
                 [&](std::size_t group, Range some) {
                     const std::size_t first = group * group_size, left = geometry_.blocks - first;
                     each_box(geometry_.block_boxes, first, first + (left < group_size ? left : group_size), block_size,
                              some, [&](std::size_t block, Range few) { count_in_block(block, few); });
                 });
    }

private:
    std::size_t dimensions() const { return Dimensions != 0 ? Dimensions : geometry_.dimensions; }

    [[gnu::always_inline]] Doubles capped(Doubles distances, std::size_t c) const {
        if constexpr (Dimensions != 0) return distances;
        return min(distances, broadcast(cap_of(geometry_.categories[c] != 0)));
    }

    // The last ones of each are not full.
    std::size_t size(std::size_t box, std::size_t each) const {
        return (box + 1) * each < points_ ? each : points_ - box * each;
    }

    void add(std::size_t points, Range radii) const {
        more_[radii.begin] += static_cast<std::uint32_t>(points);
        more_[radii.end] -= static_cast<std::uint32_t>(points);
    }

    // Adds the points of boxes that lie within radii as a whole, and calls in_part(box, radii) for those that are in
    // part. Rounded differences are monotone: that from an end of a box is not below that from a point inside.
    template <class InPart>
    [[gnu::always_inline]] void each_box(const Boxes& boxes, std::size_t begin, std::size_t end, std::size_t each,
                                         Range radii, const InPart& in_part) const {
        for (std::size_t first = begin; first < end; first += lanes) {
            Doubles least = broadcast(0.0), most = least;
            for (std::size_t c = 0; c < dimensions(); ++c) {
                const Doubles own = broadcast(center_[c]);
                const Doubles low = load(boxes.low + c * boxes.stride + first);
                const Doubles high = load(boxes.high + c * boxes.stride + first);
                least = max(least, capped(max(subtract(low, own), subtract(own, high)), c));
                most = max(most, capped(max(subtract(own, low), subtract(high, own)), c));
            }
            const unsigned there = first_of(end - first);
            const unsigned in_all = bits(less_equal(most, broadcast(radius_[radii.begin]))) & there;
            std::size_t inside = 0;
            each_bit(in_all, [&](std::size_t b) { inside += size(first + b, each); });
            add(inside, radii);
            double nearest[lanes], farthest[lanes];
            store(nearest, least);
            store(farthest, most);
            each_bit(bits(less_equal(least, broadcast(radius_[radii.end - 1]))) & there & ~in_all, [&](std::size_t b) {
                const std::size_t in = first_at_least(radius_, radii.begin, radii.end, broadcast(nearest[b]));
                const std::size_t whole = first_at_least(radius_, in, radii.end, broadcast(farthest[b]));
                add(size(first + b, each), {whole, radii.end});
                if (in < whole) in_part(first + b, Range{in, whole});
            });
        }
    }

    [[gnu::always_inline]] void count_in_block(std::size_t block, Range radii) const {
        constexpr std::size_t eights = block_size / lanes;
        Doubles distances[eights];
        unsigned there[eights];
        for (std::size_t e = 0; e < eights; ++e) {
            const std::size_t first = block * block_size + e * lanes;
            there[e] = first < points_ ? first_of(points_ - first) : 0;
            distances[e] = broadcast(0.0);
            for (std::size_t c = 0; c < dimensions(); ++c) {
                const Doubles coordinates = load(geometry_.coordinates + c * geometry_.stride + first);
                distances[e] = max(distances[e], capped(absolute(subtract(coordinates, broadcast(center_[c]))), c));
            }
        }
        std::size_t before = 0;
        for (std::size_t i = radii.begin; i < radii.end; ++i) {
            std::size_t within = 0;
            for (std::size_t e = 0; e < eights; ++e)
                within += count(bits(less_equal(distances[e], broadcast(radius_[i]))) & there[e]);
            more_[i] += static_cast<std::uint32_t>(within - before);
            before = within;
        }
        more_[radii.end] -= static_cast<std::uint32_t>(before);
    }

    const Geometry& geometry_;
    std::size_t points_;
    const double *center_, *radius_;
    std::uint32_t* more_;
};

inline void within_boxes(const Geometry& geometry, std::size_t points, const double* center, const double* radius,
                         std::size_t radii, std::uint32_t* out) {
    for (std::size_t i = 0; i <= radii; ++i) out[i] = 0;
    bool categories = false;
    for (std::size_t c = 0; c < geometry.dimensions; ++c) categories |= geometry.categories[c] != 0;
    switch (categories ? 0 : geometry.dimensions) {
        case 2:
            AroundCenter<2>(geometry, points, center, radius, out).count_all(radii);
            break;
        case 3:
            AroundCenter<3>(geometry, points, center, radius, out).count_all(radii);
            break;
        default:
            AroundCenter<0>(geometry, points, center, radius, out).count_all(radii);
    }
    for (std::size_t i = 1; i < radii; ++i) out[i] += out[i - 1];
}

}  // namespace knnmi::KNNMI_ISA
