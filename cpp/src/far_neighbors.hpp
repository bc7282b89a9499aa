// For z of two or more columns: the neighbours of a point within a large radius, for one y at a time.
//
// A list of neighbours in z serves many y's, but not well the few whose k-th neighbour is far away: they would make it
// hold nearly all points. Where a y has few values near the point's own, its neighbours are found along y instead; and
// the many points near in z and in (x, z) are counted by boxes that are near as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ascending_column.hpp"
#include "fixed_side.hpp"

namespace knnmi {

// Whether several values lie so far out that those near them would need long lists: 98 % of them take up more than ten
// times the width of the middle half, three times as much as normal ones do.
bool has_far_values(const Points& column);

class FarNeighbors {
public:
    // Of a fixed side that does not count by line. The rows of each y are positions.
    explicit FarNeighbors(const FixedSide& fixed);

    // The distance from the point at `position` to its k-th neighbour, or the bound where that is less; nothing if too
    // many points would have to be looked at. `room` is for 2 * k + 8 values.
    std::optional<double> kth_distance(const AscendingColumn& y, std::size_t position, double bound,
                                       double* room) const;

    // What it costs to search a y by itself when the k-th distance is this, in nanoseconds, roughly as measured;
    // infinity where that finds nothing.
    double cost(const AscendingColumn& y, std::size_t position, double rho) const;

    // The points within each of some radii, which are ascending, with eight more numbers after them: in z and in (x,
    // z), the point itself among them. `out` has room for one more.
    void z_within(std::size_t position, const double* radius, std::size_t radii, std::uint32_t* out) const;
    void xz_within(std::size_t position, const double* radius, std::size_t radii, std::uint32_t* out) const;
    // Other points within the radius along a y.
    CountsAlongY within(const AscendingColumn& y, std::size_t position, double radius) const;

private:
    const FixedSide* fixed_;
    SpatialOrder xz_order_;
    Geometry xz_;
    std::size_t most_visited_;
    std::vector<const double*> columns_;  // those of z, and x
    std::vector<double> caps_;
    std::vector<double> centers_;  // by position: x, then the columns of z
};

}  // namespace knnmi
