// One point against blocks of others, for a single y column.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

inline Doubles column_distance(const double* column, std::size_t self, std::size_t first) {
    return distance(load(column + first), broadcast(column[self]));
}

// At most 1, but for the infinities that fill the last block: 2^-200 of any other distance is lost in the sum.
inline Doubles category_distance(Doubles d) {
    return min(d, subtract(broadcast(1.0), multiply(d, broadcast(-0x1p-200))));
}

inline Doubles key_distance(const Geometry& g, std::size_t self, std::size_t first) {
    Doubles d = broadcast(0.0);
    for (std::size_t c = 0; c < g.dimensions; ++c) {
        const Doubles along = column_distance(g.coordinates + c * g.stride, self, first);
        d = max(d, g.categories[c] != 0 ? category_distance(along) : along);
    }
    return d;
}

// Flat, as is the next: distances that calls return go through memory.
template <class Nearest>
[[gnu::flatten]] inline double nearest_beside_x(const PointQuery& q, Nearest nearest) {
    const Doubles x_cap = broadcast(q.x_cap), y_cap = broadcast(q.y_cap);
    double* out = q.distances;
    for (std::size_t b = 0; b < q.block_count; ++b) {
        const std::size_t begin = q.blocks[b] * block_size;
        for (std::size_t first = begin; first < begin + block_size; first += lanes) {
            const Doubles z = key_distance(*q.geometry, q.self, first);
            const Doubles xz = max(z, min(column_distance(q.x, q.self, first), x_cap));
            const Doubles yz = max(z, min(column_distance(q.y, q.self, first), y_cap));
            nearest.insert(max(xz, yz));
            store(out, z);
            store(out + lanes, xz);
            store(out + 2 * lanes, yz);
            out += 3 * lanes;
        }
    }
    return nearest.largest_over_lanes();
}

template <class Nearest>
[[gnu::flatten]] inline double nearest_within_xz(const PointQuery& q, Nearest nearest) {
    const Doubles y_cap = broadcast(q.y_cap);
    double* out = q.distances;
    for (std::size_t b = 0; b < q.block_count; ++b) {
        const std::size_t begin = q.blocks[b] * block_size;
        for (std::size_t first = begin; first < begin + block_size; first += lanes) {
            const Doubles x = key_distance(*q.geometry, q.self, first);
            nearest.insert(max(x, min(column_distance(q.y, q.self, first), y_cap)));
            store(out, x);
            out += lanes;
        }
    }
    return nearest.largest_over_lanes();
}

// The point itself, at distance 0, is the first of its k + 1 nearest.
inline double nearest(const PointQuery& query, std::size_t k, double* room) {
    return with_smallest_of_all(k + 1, room, [&query](auto smallest) {
        return query.x != nullptr ? nearest_beside_x(query, smallest) : nearest_within_xz(query, smallest);
    });
}

inline SingleCounts counts_within(const PointQuery& q, double radius) {
    const Doubles reach = broadcast(radius);
    const std::size_t vectors = q.block_count * block_size / lanes;
    SingleCounts n{0, 0, 0};
    if (q.x == nullptr) {
        for (std::size_t v = 0; v < vectors; ++v) n.xz += count(bits(less_equal(load(q.distances + v * lanes), reach)));
        return n;
    }
    for (std::size_t v = 0; v < vectors; ++v) {
        const double* d = q.distances + v * 3 * lanes;
        n.z += count(bits(less_equal(load(d), reach)));
        n.xz += count(bits(less_equal(load(d + lanes), reach)));
        n.yz += count(bits(less_equal(load(d + 2 * lanes), reach)));
    }
    return n;
}

inline std::size_t joint_within(const PointQuery& q, double radius) {
    const Doubles reach = broadcast(radius), y_cap = broadcast(q.y_cap);
    const double* kept = q.distances;
    std::size_t found = 0;
    for (std::size_t b = 0; b < q.block_count; ++b) {
        const std::size_t begin = q.blocks[b] * block_size;
        for (std::size_t first = begin; first < begin + block_size; first += lanes) {
            if (q.x != nullptr) {
                found += count(bits(less_equal(max(load(kept + lanes), load(kept + 2 * lanes)), reach)));
                kept += 3 * lanes;
            } else {
                const Doubles y = min(column_distance(q.y, q.self, first), y_cap);
                found += count(bits(less_equal(max(load(kept), y), reach)));
                kept += lanes;
            }
        }
    }
    return found;
}

}  // namespace knnmi::KNNMI_ISA
