// What the two engines for z of one or more columns know before they see a y.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/kernels.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/points.hpp"
#include "sorted_line.hpp"
#include "spatial_order.hpp"
#include "terms.hpp"

namespace knnmi {

// A large set of equal points, by the blocks that hold no others; blocks of the rest of them may hold others too.
struct EqualPoints {
    std::vector<std::uint32_t> blocks;

    std::size_t points() const { return blocks.size() * block_size; }
};

// With two or more columns in z the points are ordered by z, and by x where they are equal, and all counts come from
// distances to near blocks. With one they are ordered by (x, z), which is tighter, and the counts in z and (y, z) come
// from sorted values.
class FixedSide {
public:
    FixedSide(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels);

    std::size_t points() const { return order_.points(); }
    std::size_t k() const { return k_; }
    const Kernels& kernels() const { return *kernels_; }
    const SpatialOrder& order() const { return order_; }
    const Geometry& geometry() const { return geometry_; }

    // x by position when the order is that of z, else null.
    const double* x() const { return x_.empty() ? nullptr : x_.data(); }
    bool counts_by_line() const { return line_.has_value(); }

    // With two or more columns in z: the large sets of points that are equal in z, then those equal in x too. For each
    // block the number of its set of either kind, or `no_set`; empty where there are no sets.
    static constexpr std::uint32_t no_set = 0xffffffff;
    const std::vector<EqualPoints>& sets() const { return sets_; }
    const std::vector<std::uint32_t>& set_in_z() const { return set_in_z_; }
    const std::vector<std::uint32_t>& set_in_xz() const { return set_in_xz_; }

    // In z and, when that is not a coordinate, in x.
    double z_distance(std::size_t position, std::size_t other) const;
    double x_distance(std::size_t position, std::size_t other) const {
        return std::min(std::abs(x_[position] - x_[other]), x_cap_);
    }

    // How far a block is at least from a point along x, which is by position.
    double x_gap(std::size_t position, std::size_t block) const {
        return std::min(std::max(x_low_[block] - x_[position], x_[position] - x_high_[block]), x_cap_);
    }

    double x_cap() const { return x_cap_; }
    const Terms& terms() const { return terms_; }

    // For counts_by_line(): see RankedColumn.
    const SortedLine& line() const { return *line_; }
    RankedColumn ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y, double y_cap) const;

    // The last column of z.
    double z(std::size_t position) const {
        return geometry_.coordinates[(geometry_.dimensions - 1) * geometry_.stride + position];  // after x
    }

private:
    // Adds the sets among these blocks, and writes their numbers.
    template <class Compare>
    void add_sets(std::vector<std::uint32_t> blocks, const Compare& compare, std::vector<std::uint32_t>& set_of_block);
    void find_sets();

    const Kernels* kernels_;
    std::size_t k_;
    SpatialOrder order_;
    Geometry geometry_;
    AlignedVector<double> x_;
    std::optional<SortedLine> line_;  // when z has one column
    double x_cap_;
    Terms terms_;
    std::vector<EqualPoints> sets_;
    std::vector<std::uint32_t> set_in_z_, set_in_xz_;
    AlignedVector<double> x_low_, x_high_;  // of each block, where there are sets
};

}  // namespace knnmi
