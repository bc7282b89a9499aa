// The definitions, spelt out in O(n^2): what every engine must equal integer by integer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "knnmi/estimators.hpp"
#include "radius.hpp"

namespace knnmi::test {

inline double max_norm(const Points& points, std::size_t i, std::size_t j) {
    double distance = 0.0;
    for (std::size_t c = 0; c < points.columns(); ++c) {
        const double along = std::abs(points(i, c) - points(j, c));
        distance = std::max(distance, points.is_category(c) && along > 0.0 ? 1.0 : along);
    }
    return distance;
}

// From point i to its k-th neighbour in the space that all blocks of columns span together.
inline double brute_force_kth_distance(std::initializer_list<Points> blocks, std::size_t i, int k) {
    std::vector<double> distances;
    for (std::size_t j = 0; j < blocks.begin()->rows(); ++j) {
        if (j == i) continue;
        double distance = 0.0;
        for (const Points& block : blocks) distance = std::max(distance, max_norm(block, i, j));
        distances.push_back(distance);
    }
    std::nth_element(distances.begin(), distances.begin() + (k - 1), distances.end());
    return distances[static_cast<std::size_t>(k - 1)];
}

inline double brute_force_radius(const Points& x, const Points& y, const Points& z, std::size_t i,
                                 const Neighborhood& neighborhood) {
    if (neighborhood.estimator == Estimator::cells) return 0.0;
    const double rho = brute_force_kth_distance({x, y, z}, i, neighborhood.k);
    return neighborhood.estimator == Estimator::mixed ? widened(rho) : shrunken(rho);
}

inline NeighborCounts brute_force_counts(const Points& x, const Points& y, const Points& z,
                                         const Neighborhood& neighborhood) {
    const std::size_t n = x.rows();
    const bool with_joint = neighborhood.estimator != Estimator::ksg;
    const std::vector<std::uint32_t> none(n);
    NeighborCounts counts{none, none, none, {}};
    if (with_joint) counts.joint = none;
    for (std::size_t i = 0; i < n; ++i) {
        const double radius = brute_force_radius(x, y, z, i, neighborhood);
        for (std::size_t j = 0; j < n; ++j) {
            if (j == i) continue;
            const double dx = max_norm(x, i, j), dy = max_norm(y, i, j), dz = max_norm(z, i, j);
            counts.xz[i] += std::max(dx, dz) <= radius;
            counts.yz[i] += std::max(dy, dz) <= radius;
            if (with_joint) counts.joint[i] += std::max({dx, dy, dz}) <= radius;
            counts.z[i] += dz <= radius;  // without columns every point is at distance 0
        }
    }
    return counts;
}

}  // namespace knnmi::test
