// What the two fast engines know before they see a y.
#pragma once

#include <memory>
#include <optional>

#include "kernels/kernels.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/points.hpp"
#include "sorted_line.hpp"
#include "spatial_order.hpp"
#include "terms.hpp"

namespace knnmi {

// With two or more columns in z the points are ordered by z, and all counts come from distances to near blocks. With
// fewer they are ordered by (x, z), which is tighter, and the counts in z and (y, z) come from sorted values.
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
    bool counts_by_line() const { return x_.empty(); }

    double x_cap() const { return x_cap_; }
    const Terms& terms() const { return terms_; }

    // For counts_by_line(): see RankedColumn. The line is null when z is empty.
    const SortedLine* line() const { return line_ ? &*line_ : nullptr; }
    RankedColumn ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y, double y_cap) const;

    // The single column of z, or anything when there is none.
    double z(std::size_t position) const {
        return geometry_.coordinates[(geometry_.dimensions - 1) * geometry_.stride + position];  // after x
    }

private:
    const Kernels* kernels_;
    std::size_t k_;
    SpatialOrder order_;
    Geometry geometry_;
    AlignedVector<double> x_;
    std::optional<SortedLine> line_;  // when z has one column
    double x_cap_;
    Terms terms_;
};

}  // namespace knnmi
