// Points copied one row after another, as searches read them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "knnmi/points.hpp"

namespace knnmi {

class RowMajor {
public:
    RowMajor() = default;
    RowMajor(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}

    // The rows of `points` in the given order.
    RowMajor(const Points& points, std::span<const std::uint32_t> order) : RowMajor(order.size(), points.columns()) {
        for (std::size_t i = 0; i < rows_; ++i) {
            for (std::size_t j = 0; j < columns_; ++j) (*this)[i][j] = points(order[i], j);
        }
    }

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    double* operator[](std::size_t row) { return values_.data() + row * columns_; }
    const double* operator[](std::size_t row) const { return values_.data() + row * columns_; }
    std::span<double> values() { return values_; }

    Points view() const { return Points::row_major(values_.data(), rows_, columns_); }

private:
    std::size_t rows_ = 0, columns_ = 0;
    std::vector<double> values_;
};

// The columns of all blocks, which have equally many rows.
inline RowMajor side_by_side(std::initializer_list<const RowMajor*> blocks) {
    std::size_t columns = 0;
    for (const RowMajor* block : blocks) columns += block->columns();
    RowMajor joined((*blocks.begin())->rows(), columns);
    std::size_t first = 0;
    for (const RowMajor* block : blocks) {
        for (std::size_t i = 0; i < block->rows(); ++i) {
            std::copy_n((*block)[i], block->columns(), joined[i] + first);
        }
        first += block->columns();
    }
    return joined;
}

// Max norm. Without columns it is 0.
inline double distance(const double* a, const double* b, std::size_t columns) {
    double largest = 0.0;
    for (std::size_t j = 0; j < columns; ++j) largest = std::max(largest, std::abs(a[j] - b[j]));
    return largest;
}

}  // namespace knnmi
