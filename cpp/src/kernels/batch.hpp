// The neighbour list of one point, and eight y columns at a time walking it.
#pragma once

#include "kernels/single.hpp"

namespace knnmi::KNNMI_ISA {

// Appends to arrays with room for eight more.
inline void append(PointDistances list, std::size_t& size, Doubles distances, std::size_t first, unsigned chosen) {
    compress(list.distance + size, distances, chosen);
    compress(list.position + size, positions_from(static_cast<std::uint32_t>(first)), chosen);
    size += count(chosen);
}

// Flat: distances that calls return go through memory.
template <bool WithZ>
[[gnu::flatten]] inline void neighbors_in_blocks(const PointQuery& q, double radius, PointDistances xz,
                                                 PointDistances z, std::size_t* found) {
    const Doubles reach = broadcast(radius);
    std::size_t in_xz = 0, in_z = 0;
    for (std::size_t b = 0; b < q.block_count; ++b) {
        const std::size_t begin = q.blocks[b] * block_size;
        for (std::size_t first = begin; first < begin + block_size; first += lanes) {
            const unsigned others = q.self - first < lanes ? ~(1u << (q.self - first)) : ~0u;
            Doubles d = key_distance(*q.geometry, q.self, first);
            if constexpr (WithZ) {
                append(z, in_z, d, first, bits(less_equal(d, reach)) & others);
                d = max(d, min(column_distance(q.x, q.self, first), broadcast(q.x_cap)));
            }
            append(xz, in_xz, d, first, bits(less_equal(d, reach)) & others);
        }
    }
    found[0] = in_xz;
    found[1] = in_z;
}

inline void neighbors(const PointQuery& q, double radius, PointDistances xz, PointDistances z, std::size_t* found) {
    if (q.x != nullptr)
        neighbors_in_blocks<true>(q, radius, xz, z, found);
    else
        neighbors_in_blocks<false>(q, radius, xz, z, found);
}

inline double smallest_over_lanes(Doubles a) {
    a = min(a, exchange<4>(a));
    a = min(a, exchange<2>(a));
    a = min(a, exchange<1>(a));
    return first_lane(a);
}

inline double largest_over_lanes(Doubles a) {
    a = max(a, exchange<4>(a));
    a = max(a, exchange<2>(a));
    a = max(a, exchange<1>(a));
    return first_lane(a);
}

// Writes infinity up to a whole chunk and eight times more, then for every chunk the smallest distance from it on.
inline std::size_t finish_list(PointDistances list, std::size_t count, double* floor) {
    const std::size_t chunks = (count + lanes - 1) / lanes;
    for (std::size_t i = count; i < (chunks + 1) * lanes; ++i) {
        list.distance[i] = __builtin_inf();
        list.position[i] = 0;
    }
    Doubles smallest = broadcast(__builtin_inf());
    for (std::size_t c = chunks; c-- > 0;) {
        smallest = min(smallest, load(list.distance + c * lanes));
        floor[c] = smallest_over_lanes(smallest);
    }
    return chunks;
}

// In place: what is written never overtakes what is read.
inline std::size_t keep_within(PointDistances list, std::size_t size, double limit) {
    const Doubles reach = broadcast(limit);
    for (std::size_t i = size; i < size + lanes; ++i) list.distance[i] = __builtin_nan("");  // never within
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; i += lanes) {
        const Doubles d = load(list.distance + i);
        const Positions positions = load_positions(list.position + i);
        const unsigned near = bits(less_equal(d, reach));
        compress(list.distance + kept, d, near);
        compress(list.position + kept, positions, near);
        kept += count(near);
    }
    return kept;
}

// A distance's bucket never falls as the distance grows, whatever the rounding; that is all the order needs.
inline Doubles buckets_of(const NeighborList& list, Doubles distances) {
    const Doubles bucket = multiply(subtract(distances, broadcast(list.least)), broadcast(list.per_unit));
    return max(min(bucket, broadcast(list.last_bucket)), broadcast(0.0));
}

inline NeighborList order_by_distance(PointDistances found, std::size_t count, std::size_t buckets,
                                      std::uint32_t* scratch, PointDistances out, double* floor, std::uint32_t* begin) {
    for (std::size_t b = 0; b <= buckets; ++b) begin[b] = 0;
    NeighborList list{.distance = out.distance,
                      .position = out.position,
                      .floor = floor,
                      .chunks = 0,
                      .begin = begin,
                      .least = 0.0,
                      .per_unit = 0.0,
                      .last_bucket = static_cast<double>(buckets - 1)};
    if (count > 0) {
        for (std::size_t i = count; i < count + lanes; ++i) found.distance[i] = found.distance[0];
        Doubles low = load(found.distance), high = low;
        for (std::size_t i = lanes; i < count; i += lanes) {
            low = min(low, load(found.distance + i));
            high = max(high, load(found.distance + i));
        }
        list.least = smallest_over_lanes(low);
        list.per_unit = static_cast<double>(buckets) / (largest_over_lanes(high) - list.least);
    }
    auto* const bucket = reinterpret_cast<std::int32_t*>(scratch);
    for (std::size_t i = 0; i < count; i += lanes) store_whole(bucket + i, buckets_of(list, load(found.distance + i)));

    std::uint32_t* const next = begin + 1;  // where the next one of each bucket goes: at last, where the bucket ends
    for (std::size_t i = 0; i < count; ++i) ++next[bucket[i]];
    std::uint32_t start = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        const std::uint32_t size = next[b];
        next[b] = start;
        start += size;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t place = next[bucket[i]]++;
        out.distance[place] = found.distance[i];
        out.position[place] = found.position[i];
    }
    list.chunks = finish_list(out, count, floor);
    return list;
}

// The distances in y of eight columns, from one point.
template <bool WithCategories>
class BatchDistance {
public:
    BatchDistance(const BatchView& y, std::size_t self)
        : values_(y.values), next_(y.next), own_(load(y.values + self * lanes)) {
        if constexpr (WithCategories) caps_ = load(y.caps);
    }

    // Or another distance, if that is larger.
    Doubles operator()(std::size_t position, double other) const {
        const Doubles difference = subtract(load(values_ + position * lanes), own_);
        if constexpr (WithCategories) return max(broadcast(other), min(absolute(difference), caps_));
        return larger(broadcast(other), difference);
    }

    void prefetch(const std::uint32_t* positions) const {
        for (std::size_t i = 0; i < lanes; ++i) __builtin_prefetch(next_ + positions[i] * lanes);
    }

private:
    const double *values_, *next_;
    Doubles own_, caps_;
};

// Calls f with the distances.
template <class Function>
inline auto with_distance(const BatchView& y, std::size_t self, const Function& f) {
    if (y.caps != nullptr) return f(BatchDistance<true>(y, self));
    return f(BatchDistance<false>(y, self));
}

// Flat, since a call for each insertion would keep what is nearest in memory.
template <class Nearest, class Distance>
[[gnu::flatten]] inline unsigned batch_nearest_with(const NeighborList& xz, unsigned wanted, std::size_t patience,
                                                    Nearest& nearest, const Distance& y_distance) {
    for (std::size_t c = 0; c < xz.chunks; ++c) {
        const unsigned open = bits(less(broadcast(xz.floor[c]), nearest.bound())) & wanted;
        if (open == 0 || count(open) * patience < c * lanes) return open;
        y_distance.prefetch(xz.position + c * lanes);
        const auto distance = [&](std::size_t i) { return y_distance(xz.position[i], xz.distance[i]); };
        for (std::size_t i = c * lanes; i < (c + 1) * lanes; i += Nearest::at_once) {
            if constexpr (Nearest::at_once == 4)
                nearest.insert(distance(i), distance(i + 1), distance(i + 2), distance(i + 3));
            else if constexpr (Nearest::at_once == 2)
                nearest.insert(distance(i), distance(i + 1));
            else
                nearest.insert(distance(i));
        }
    }
    return 0;
}

inline BatchNearest batch_nearest(const NeighborList& xz, const BatchView& y, std::size_t self,
                                  std::span<const double> others, unsigned wanted, std::size_t k, std::size_t patience,
                                  double* room, double* rho) {
    return with_smallest(k, room, [&](auto nearest) {
        for (std::size_t i = 0; i < others.size(); i += lanes) nearest.insert(load(others.data() + i));
        return with_distance(y, self, [&](const auto& y_distance) {
            const unsigned open = batch_nearest_with(xz, wanted, patience, nearest, y_distance);
            const Doubles found = nearest.largest();
            store(rho, wanted == all_columns ? found : blend(wanted, found, load(rho)));
            return BatchNearest{open, largest_over_lanes(only(wanted, found, 0.0))};
        });
    });
}

inline unsigned batch_radii(const double* rho, double reach, double limit, double* out, double* within_limit) {
    const Doubles radius = multiply(load(rho), broadcast(reach));
    const unsigned far = bits(less(broadcast(limit), radius));
    store(out, radius);
    store(within_limit, only(~far, radius, -1.0));
    return far;
}

// What is in buckets before that of a radius is within it, and what is in those after it is not.
inline std::size_t batch_within(const NeighborList& list, const double* radius, std::int64_t* out) {
    std::int32_t bucket[lanes];
    store_whole(bucket, buckets_of(list, load(radius)));
    std::size_t end = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        const Doubles reach = broadcast(radius[l]);
        std::size_t i = list.begin[bucket[l]], within = i;
        const std::size_t bucket_end = list.begin[bucket[l] + 1];
        do {
            within += count(bits(less_equal(load(list.distance + i), reach)));
            i += lanes;
        } while (i < bucket_end);
        out[l] = static_cast<std::int64_t>(within);
        end = bucket_end > end ? bucket_end : end;
    }
    return end;
}

inline void batch_within_run(const BatchView& y, std::size_t self, std::size_t begin, std::size_t end,
                             const double* radius, std::int64_t* out) {
    with_distance(y, self, [&](const auto& y_distance) {
        const Doubles reach = load(radius);
        Integers n = zeros();
        for (std::size_t i = begin; i < end; ++i) n = count_up(n, less_equal(y_distance(i, 0.0), reach));
        store(out, n);
    });
}

inline void batch_within_y(const NeighborList& list, const BatchView& y, std::size_t self, const double* radius,
                           std::int64_t* in_list, std::int64_t* in_both) {
    const std::size_t end = batch_within(list, radius, in_list);
    with_distance(y, self, [&](const auto& y_distance) {
        const Doubles reach = load(radius);
        Integers n = zeros();
        for (std::size_t first = 0; first < end; first += lanes) {
            y_distance.prefetch(list.position + first);
            for (std::size_t i = first; i < first + lanes; ++i)
                n = count_up(n, less_equal(y_distance(list.position[i], list.distance[i]), reach));
        }
        store(in_both, n);
    });
}

}  // namespace knnmi::KNNMI_ISA
