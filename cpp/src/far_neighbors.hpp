// For z of two or more columns: the neighbours of a point within a large radius, for one y at a time.
//
// A list of neighbours in z serves many y's, but not well the few whose k-th neighbour is far away: they would make it
// hold nearly all points. Where a y has few values near the point's own, its neighbours are found along y instead; and
// the many points near in z and in (x, z) are counted by boxes that are near as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fixed_side.hpp"
#include "kd_tree.hpp"

namespace knnmi {

// The positions of points by ascending y, where each is among them, and the values of y in that order.
struct AscendingColumn {
    std::vector<std::uint32_t> positions, places;
    std::vector<double> values;
    double cap;
};

// Whether several values lie so far out that those near them would need long lists: 98 % of them take up more than ten
// times the width of the middle half, three times as much as normal ones do.
bool has_far_values(const Points& column);

class FarNeighbors {
public:
    // Of a fixed side that does not count by line.
    explicit FarNeighbors(const FixedSide& fixed);

    // The distance from the point at `position` to its k-th neighbour, where `nearest` keeps k; nothing if too many
    // points would have to be looked at.
    std::optional<double> kth_distance(const AscendingColumn& y, std::size_t position, KSmallest& nearest) const;

    // What it costs to search a y by itself when the k-th distance is this, in nanoseconds, roughly as measured;
    // infinity where that finds nothing.
    double cost(const AscendingColumn& y, std::size_t position, double rho) const;

    std::size_t z_within(std::size_t position, double radius) const;

    // Other points within the radius.
    struct Counts {
        std::size_t xz, yz, z, joint;
    };
    Counts within(const AscendingColumn& y, std::size_t position, double radius) const;

private:
    double xz_distance(std::size_t position, std::size_t other) const;

    // Calls visit(position, distance in y) for the other points that are near in y, on both sides at once. False from
    // it ends the walk.
    template <class Near, class Visit>
    void outward(const AscendingColumn& y, std::size_t position, const Near& near, const Visit& visit) const;

    const FixedSide* fixed_;
    SpatialOrder xz_order_;
    Geometry xz_;
    std::size_t most_visited_;
};

}  // namespace knnmi
