// A read-only view of n points with d coordinates, and of single columns.
#pragma once

#include <cstddef>

namespace knnmi {

// Any layout of a double matrix can be viewed without a copy. The memory must outlive the view. `columns` may be 0: an
// empty conditioning set.
class Points {
public:
    Points() = default;

    // One row after another, or one column after another.
    static Points row_major(const double* data, std::size_t rows, std::size_t columns) {
        return strided(data, {rows, columns}, {static_cast<std::ptrdiff_t>(columns), 1});
    }
    static Points column_major(const double* data, std::size_t rows, std::size_t columns) {
        return strided(data, {rows, columns}, {1, static_cast<std::ptrdiff_t>(rows)});
    }
    static Points single_column(const double* data, std::size_t rows) { return column_major(data, rows, 1); }

    // No columns, for z.
    static Points none(std::size_t rows) { return strided(nullptr, {rows, 0}, {0, 0}); }

    struct Shape {
        std::size_t rows, columns;
    };
    // From one row to the next and from one column to the next, in doubles.
    struct Strides {
        std::ptrdiff_t row, column;
    };
    static Points strided(const double* data, Shape shape, Strides strides) {
        Points points;
        points.data_ = data;
        points.shape_ = shape;
        points.strides_ = strides;
        return points;
    }

    std::size_t rows() const { return shape_.rows; }
    std::size_t columns() const { return shape_.columns; }

    // The same points, with columns that are categories: numbers that are 0 apart where equal and 1 where not, for
    // which whole numbers are needed. `flags` has a value for each column and must outlive the view.
    Points with_categories(const unsigned char* flags) const {
        Points points = *this;
        points.categories_ = flags;
        return points;
    }
    bool is_category(std::size_t column) const { return categories_ != nullptr && categories_[column] != 0; }

    bool empty() const { return shape_.columns == 0; }

    double operator()(std::size_t row, std::size_t column) const { return data_[offset(row, column)]; }

    Points column(std::size_t j) const { return columns(j, 1); }
    Points columns(std::size_t first, std::size_t count) const {
        const Points part = strided(count == 0 ? nullptr : data_ + offset(0, first), {shape_.rows, count}, strides_);
        return categories_ == nullptr ? part : part.with_categories(categories_ + first);
    }

private:
    std::ptrdiff_t offset(std::size_t row, std::size_t column) const {
        return static_cast<std::ptrdiff_t>(row) * strides_.row + static_cast<std::ptrdiff_t>(column) * strides_.column;
    }

    const double* data_ = nullptr;
    Shape shape_{0, 0};
    Strides strides_{0, 0};
    const unsigned char* categories_ = nullptr;  // null: none
};

}  // namespace knnmi
