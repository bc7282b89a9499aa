// Of the points in a long list, those that are near in y too, for 32 columns at a time. Whole numbers of 16 bits stand
// for what is compared: places in y, and ranks of the distances among the radii of all columns.
#pragma once

#include "kernels/batch.hpp"

namespace knnmi::KNNMI_ISA {

// Of radii by distance, how many are smaller than each of n distances. Those in buckets before its own are, and those
// in buckets after it are not.
inline void ranks_among(const NeighborList& radii, const double* distances, std::size_t n, std::uint16_t* out) {
    for (std::size_t first = 0; first < n; first += lanes) {
        std::int32_t bucket[lanes];
        store_whole(bucket, buckets_of(radii, load(distances + first)));
        for (std::size_t i = first; i < n && i < first + lanes; ++i) {
            const Doubles own = broadcast(distances[i]);
            std::size_t at = radii.begin[bucket[i - first]], rank = at;
            const std::size_t end = radii.begin[bucket[i - first] + 1];
            do {
                rank += count(bits(less(load(radii.distance + at), own)));
                at += lanes;
            } while (at < end);
            out[i] = static_cast<std::uint16_t>(rank);
        }
    }
}

// The columns, as bits, whose y at a position is farther away than the radius.
[[gnu::noinline]] inline std::uint32_t far_in_y(const PlacedBatches& y, std::size_t self, std::size_t position,
                                                const double* radius) {
    std::uint32_t far = 0;
    for (std::size_t b = 0; b * lanes < y.columns; ++b) {
        const BatchDistance<false> distance({y.values + b * y.stride, nullptr, nullptr}, self);
        const Doubles apart = distance(position, 0.0);
        far |= std::uint32_t{bits(less(load(radius + b * lanes), apart))} << (b * lanes);
    }
    return far;
}

template <bool Rounded>  // places, so that those at the ends of a window may be outside
inline void placed_within_with(const RankedPoints& points, const PlacedBatches& y, std::size_t self,
                               const double* radius, const std::uint16_t* rank, std::int64_t* in_both) {
    constexpr std::size_t stretch = 32768;  // points that a short can count
    std::uint16_t begin[four_batches], width[four_batches];
    for (std::size_t l = 0; l < four_batches; ++l) {  // where there is no column all places are 0, which is not in this
        begin[l] = 1;
        width[l] = 0;
    }
    for (std::size_t b = 0; b * lanes < y.columns; ++b) {
        Range window[lanes];
        each_within(
            y.sorted->cells, [&](std::size_t) -> const SortedLevels& { return *y.sorted; },
            y.values + b * y.stride + self * lanes, radius + b * lanes, window);
        for (std::size_t l = 0; l < lanes && b * lanes + l < y.columns; ++l) {  // the point itself is in it
            const std::size_t first = window[l].begin >> y.shift, last = (window[l].end - 1) >> y.shift;
            begin[b * lanes + l] = static_cast<std::uint16_t>(first);
            width[b * lanes + l] = static_cast<std::uint16_t>(last - first);
        }
    }
    const Shorts first = load_shorts(begin), widest = load_shorts(width), most = load_shorts(rank);
    for (std::size_t l = 0; l < four_batches; ++l) in_both[l] = 0;
    for (std::size_t done = 0; done < points.count; done += stretch) {
        const std::size_t end = points.count - done < stretch ? points.count : done + stretch;
        Shorts found = broadcast_short(0);
        for (std::size_t i = done; i < end; ++i) {
            const std::size_t position = points.position[i];
            const Shorts there = subtract(load_shorts(y.places + position * four_batches), first);
            const ShortMask near = both(at_most(broadcast_short(points.rank[i]), most), at_most(there, widest));
            found = count_up(found, near);
            if constexpr (Rounded) {
                const ShortMask open = both(near, either(equal(there, broadcast_short(0)), equal(there, widest)));
                if (any(open)) [[unlikely]]
                    each_bit(bits(open) & far_in_y(y, self, position, radius), [&](std::size_t l) { --in_both[l]; });
            }
        }
        std::uint16_t more[four_batches];
        store(more, found);
        for (std::size_t l = 0; l < four_batches; ++l) in_both[l] += more[l];
    }
}

inline void placed_within(const RankedPoints& points, const PlacedBatches& y, std::size_t self, const double* radius,
                          const std::uint16_t* rank, std::int64_t* in_both) {
    if (y.shift == 0)
        placed_within_with<false>(points, y, self, radius, rank, in_both);
    else
        placed_within_with<true>(points, y, self, radius, rank, in_both);
}

}  // namespace knnmi::KNNMI_ISA
