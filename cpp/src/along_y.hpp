// For z of one column: the neighbours of a point found along y, from the nearest value on.
//
// A list of neighbours in (x, z) serves many y's, but not well the few whose k-th neighbour is far away there: they
// would make it long for all. Where many points are near in (x, z) and yet the k-th neighbour is far, few are near in
// y.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fixed_side.hpp"

namespace knnmi {

class AlongY {
public:
    // Of a fixed side that counts by line, with eight points or more.
    AlongY(const FixedSide& fixed, const Points& x);

    // The distance from the point at `position` to its k-th neighbour, or the bound where that is less. `room` is for
    // 2 * k + 8 values.
    double kth_distance(const RankedColumn& y, std::size_t position, double bound, std::size_t k, double* room) const;

    // Other points within the radius, in (x, y, z) and, of a value, in y.
    std::size_t joint_within(const RankedColumn& y, std::size_t position, double radius) const;
    std::size_t y_within(const RankedColumn& y, double value, double radius) const;
    // Those in (x, z) that are in no large set of equal points, the point itself included.
    std::size_t to_list(std::size_t position, double radius) const;
    RankedLine x_line() const { return ranked_x_.view(); }

private:
    const FixedSide* fixed_;
    // Rows are counted along the line, as those of a RankedColumn.
    std::vector<std::uint32_t> row_;        // at each position
    std::vector<double> x_;                 // by row
    Labels cells_;                          // equal where x and z are
    std::array<const double*, 2> columns_;  // z and x
    std::array<double, 2> caps_;
    RankedColumn ranked_x_;
    const Kernels* kernels_;
};

}  // namespace knnmi
