// Points put in an order in which neighbours are near each other, cut into blocks of 16 and groups of 8 blocks, each
// with its bounding box: what a tree gives, in flat arrays that SIMD can scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "aligned.hpp"
#include "kernels/views.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

// The order is that of a k-d tree that halves the widest side at its median. A single column is fully sorted.
class SpatialOrder {
public:
    // Of the space that the columns of all parts span together; points that are equal there are ordered by `then`, if
    // it has a column.
    explicit SpatialOrder(std::initializer_list<Points> parts, const Points& then = {});

    std::size_t points() const { return rows_.size(); }
    std::size_t blocks() const { return (points() + block_size - 1) / block_size; }
    std::size_t groups() const { return (blocks() + group_size - 1) / group_size; }

    // The row at each position.
    const std::vector<std::uint32_t>& rows() const { return rows_; }

    // The values of a column by position, then infinities up to a whole block.
    AlignedVector<double> arranged(const Points& column) const;

    Geometry geometry() const;

private:
    struct BoxArrays {
        AlignedVector<double> low, high;
        std::size_t stride = 0;

        void resize(std::size_t boxes, std::size_t dimensions);
        Boxes view() const { return {low.data(), high.data(), stride}; }
    };

    void bound(BoxArrays& boxes, std::size_t count, std::size_t points_each);

    std::size_t dimensions_;
    std::vector<unsigned char> categories_;  // by dimension
    std::vector<std::uint32_t> rows_;
    AlignedVector<double> coordinates_;
    BoxArrays block_boxes_, group_boxes_;
};

}  // namespace knnmi
