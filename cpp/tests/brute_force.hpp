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

// The k-th smallest of the distances to the points other than number i.
inline double kth_distance(std::vector<double> distances, std::size_t i, int k) {
    distances.erase(distances.begin() + static_cast<std::ptrdiff_t>(i));
    std::nth_element(distances.begin(), distances.begin() + (k - 1), distances.end());
    return distances[static_cast<std::size_t>(k - 1)];
}

inline double brute_force_kth_distance(const Points& points, std::size_t i, int k) {
    std::vector<double> distances(points.rows());
    for (std::size_t j = 0; j < points.rows(); ++j) distances[j] = max_norm(points, i, j);
    return kth_distance(distances, i, k);
}

inline double radius_of(const std::vector<double>& joint, std::size_t i, const Neighborhood& neighborhood) {
    if (neighborhood.estimator == Estimator::cells) return 0.0;
    const double rho = kth_distance(joint, i, neighborhood.k);
    return neighborhood.estimator == Estimator::mixed ? widened(rho) : shrunken(rho);
}

inline NeighborCounts brute_force_counts(const Points& x, const Points& y, const Points& z,
                                         const Neighborhood& neighborhood) {
    const std::size_t n = x.rows();
    const bool with_joint = neighborhood.estimator != Estimator::ksg;
    const std::vector<std::uint32_t> none(n);
    NeighborCounts counts{none, none, none, {}};
    if (with_joint) counts.joint = none;
    std::vector<double> dx(n), dy(n), dz(n), joint(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            dx[j] = max_norm(x, i, j);
            dy[j] = max_norm(y, i, j);
            dz[j] = max_norm(z, i, j);  // 0 without columns
            joint[j] = std::max({dx[j], dy[j], dz[j]});
        }
        const double radius = radius_of(joint, i, neighborhood);
        for (std::size_t j = 0; j < n; ++j) {
            if (j == i) continue;
            counts.xz[i] += std::max(dx[j], dz[j]) <= radius;
            counts.yz[i] += std::max(dy[j], dz[j]) <= radius;
            if (with_joint) counts.joint[i] += joint[j] <= radius;
            counts.z[i] += dz[j] <= radius;
        }
    }
    return counts;
}

}  // namespace knnmi::test
