// For z of one column: the neighbours of a point found along y, from the nearest value on.
//
// A list of neighbours in (x, z) serves many y's, but not well the few whose k-th neighbour is far away there: they
// would make it long for all. Where many points are near in (x, z) and yet the k-th neighbour is far, few are near in
// y.
#pragma once

#include <cstdint>
#include <vector>

#include "fixed_side.hpp"
#include "kd_tree.hpp"

namespace knnmi {

// Whether a value or more lie so far out that those near them would need long lists: all are 20 times as wide as the
// middle half.
bool has_outliers(const SortedColumn& column);

class AlongY {
public:
    // Of a fixed side that counts by line.
    AlongY(const FixedSide& fixed, const Points& x);

    bool outliers_among_x() const { return has_outliers(*ranked_x_.sorted()); }

    // The distance from the point at `position` to its k-th neighbour, where `nearest` keeps k.
    double kth_distance(const RankedColumn& y, std::size_t position, KSmallest& nearest) const;

    // Other points within the radius, in (x, y, z), in (x, z) and, of a value, in y.
    std::size_t joint_within(const RankedColumn& y, std::size_t position, double radius) const;
    std::size_t xz_within(std::size_t position, double radius) const;
    std::size_t y_within(const RankedColumn& y, double value, double radius) const;

private:
    double xz_distance(std::uint32_t row, std::uint32_t other) const;

    // Rows are counted along the line, as those of a RankedColumn.
    std::vector<std::uint32_t> row_;  // at each position
    std::vector<double> x_, z_;       // by row
    Labels cells_;                    // equal where x and z are
    double x_cap_, z_cap_;
    RankedColumn ranked_x_;
    const Kernels* kernels_;
};

}  // namespace knnmi
