// What the two engines for z of one or more columns know before they see a y.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

    // Of a set of points that are equal in z: its blocks by ascending x without those of the sets within it, which are
    // equal in x too. These have the numbers from first_within to before last_within, by ascending x.
    std::vector<std::uint32_t> loose{};
    std::size_t first_within = 0, last_within = 0;

    std::size_t points() const { return blocks.size() * block_size; }
    std::size_t position() const { return blocks.front() * block_size; }  // of one of the points
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

    // The large sets of points that are equal in z, of which there are sets_in_z(), then those equal in x too. With one
    // column in z there are only the latter.
    const std::vector<EqualPoints>& sets() const { return sets_; }
    std::size_t sets_in_z() const { return sets_in_z_; }
    // Where there are sets: whether a block belongs to one, and to one that is equal in x too.
    bool in_set(std::size_t block) const { return in_set_[block]; }
    bool in_inner_set(std::size_t block) const { return in_inner_set_[block]; }
    // The geometry of the points in no set: blocks that are in one are infinitely far away.
    const Geometry& apart() const { return apart_; }

    // In the coordinates: those of z, or of x and z with one column in z.
    double distance(std::size_t position, std::size_t other) const;
    // When x is no coordinate.
    double x_distance(std::size_t position, std::size_t other) const {
        return std::min(std::abs(x_[position] - x_[other]), x_cap_);
    }

    // The same by position, with two or more columns in z.
    Points x_points() const { return Points::single_column(x_.data(), points()).with_categories(&x_category_); }
    Points z_points() const {
        return Points::strided(geometry_.coordinates, {points(), geometry_.dimensions},
                               {1, static_cast<std::ptrdiff_t>(geometry_.stride)})
            .with_categories(geometry_.categories);
    }

    // The blocks of a set that come within a radius of a point along x, and the sets within it that do.
    struct NearInSet {
        std::span<const std::uint32_t> loose;
        std::size_t first_within, last_within;
    };
    NearInSet near_in_set(const EqualPoints& set, std::size_t position, double radius) const;

    double x_cap() const { return x_cap_; }
    const Terms& terms() const { return terms_; }

    // For counts_by_line(): see RankedColumn.
    const SortedLine& line() const { return *line_; }
    RankedColumn ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y, double y_cap,
                        RankedColumn::Counts counts = RankedColumn::Counts::in_windows) const;

    // The last column of z, by position.
    const double* z() const {
        return geometry_.coordinates + (geometry_.dimensions - 1) * geometry_.stride;  // after x
    }

private:
    std::ptrdiff_t large() const;
    void find_sets();
    void find_sets_within();
    void separate();

    const Kernels* kernels_;
    std::size_t k_;
    SpatialOrder order_;
    Geometry geometry_;
    AlignedVector<double> x_;
    std::optional<SortedLine> line_;  // when z has one column
    unsigned char x_category_;
    double x_cap_;
    Terms terms_;
    std::vector<EqualPoints> sets_;
    std::size_t sets_in_z_ = 0;
    std::vector<bool> in_set_, in_inner_set_;  // by block
    std::vector<double> x_low_, x_high_;       // by block
    AlignedVector<double> block_low_, block_high_, group_low_, group_high_;
    Geometry apart_;
};

}  // namespace knnmi
