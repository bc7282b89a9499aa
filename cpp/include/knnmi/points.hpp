// A read-only view of n points with d coordinates, and of single columns.
#pragma once

#include <cstddef>

namespace knnmi {

// Strides are counted in doubles, so any layout of a double matrix can be viewed without a copy. The memory must
// outlive the view. `columns` may be 0: an empty conditioning set.
class Points {
public:
    Points() = default;
    Points(const double* data, std::size_t rows, std::size_t columns, std::ptrdiff_t row_stride,
           std::ptrdiff_t column_stride)
        : data_(data), rows_(rows), columns_(columns), row_stride_(row_stride), column_stride_(column_stride) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    bool empty() const { return columns_ == 0; }

    double operator()(std::size_t row, std::size_t column) const {
        return data_[static_cast<std::ptrdiff_t>(row) * row_stride_ +
                     static_cast<std::ptrdiff_t>(column) * column_stride_];
    }

    Points column(std::size_t j) const {
        return {data_ + static_cast<std::ptrdiff_t>(j) * column_stride_, rows_, 1, row_stride_, column_stride_};
    }

private:
    const double* data_ = nullptr;
    std::size_t rows_ = 0, columns_ = 0;
    std::ptrdiff_t row_stride_ = 0, column_stride_ = 0;
};

}  // namespace knnmi
