#include "spatial_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sorted_column.hpp"

namespace knnmi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t rounded_up(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Splits by count, so that any number of equal points makes no difference. The last column orders those that are equal
// in the first `dimensions`.
class MedianSplit {
public:
    MedianSplit(const std::vector<Points>& columns, std::size_t dimensions)
        : dimensions_(dimensions), width_(columns.size()), values_(columns.front().rows() * width_) {
        for (std::size_t c = 0; c < width_; ++c)
            for (std::size_t row = 0; row < columns[c].rows(); ++row) values_[row * width_ + c] = columns[c](row, 0);
    }

    // In their new order.
    std::vector<std::uint32_t> rows() const {
        std::vector<std::uint32_t> rows(values_.size() / width_);
        std::iota(rows.begin(), rows.end(), 0u);
        split(rows.data(), rows.data() + rows.size());
        return rows;
    }

private:
    void split(std::uint32_t* first, std::uint32_t* last) const {
        const auto count = static_cast<std::size_t>(last - first);
        if (count <= block_size) return;
        // Every piece but the last is of whole groups, or of whole blocks within a group.
        const std::size_t unit = count > block_size * group_size ? block_size * group_size : block_size;
        std::uint32_t* middle = first + rounded_up(count / 2, unit);
        if (middle >= last) middle -= unit;
        const std::size_t side = widest_side(first, last);
        std::nth_element(first, middle, last, [this, side](std::uint32_t a, std::uint32_t b) {
            const double *const one = &values_[a * width_], *const two = &values_[b * width_];
            return one[side] != two[side] ? one[side] < two[side] : one[width_ - 1] < two[width_ - 1];
        });
        split(first, middle);
        split(middle, last);
    }

    std::size_t widest_side(const std::uint32_t* first, const std::uint32_t* last) const {
        std::size_t widest = width_ - 1;
        double width = 0.0;
        for (std::size_t c = 0; c < dimensions_; ++c) {
            double low = infinity, high = -infinity;
            for (const std::uint32_t* row = first; row != last; ++row) {
                const double value = values_[*row * width_ + c];
                low = std::min(low, value);
                high = std::max(high, value);
            }
            if (high - low > width) {
                width = high - low;
                widest = c;
            }
        }
        return widest;
    }

    std::size_t dimensions_, width_;
    std::vector<double> values_;  // row by row
};

}  // namespace

SpatialOrder::SpatialOrder(std::initializer_list<Points> parts, const Points& then) {
    std::vector<Points> columns;
    for (const Points& part : parts)
        for (std::size_t c = 0; c < part.columns(); ++c) columns.push_back(part.column(c));
    dimensions_ = columns.size();
    std::vector<Points> split = columns;
    if (!then.empty()) split.push_back(then);
    rows_ = dimensions_ == 1 ? ascending_rows(columns.front()) : MedianSplit(split, dimensions_).rows();

    for (const Points& column : columns) {
        categories_.push_back(column.is_category(0));
        const AlignedVector<double> values = arranged(column);
        coordinates_.insert(coordinates_.end(), values.begin(), values.end());
    }
    bound(block_boxes_, blocks(), block_size);
    bound(group_boxes_, groups(), block_size * group_size);
}

AlignedVector<double> SpatialOrder::arranged(const Points& column) const {
    AlignedVector<double> values(blocks() * block_size, infinity);
    for (std::size_t position = 0; position < points(); ++position) values[position] = column(rows_[position], 0);
    return values;
}

Geometry SpatialOrder::geometry() const {
    return {.dimensions = dimensions_,
            .blocks = blocks(),
            .groups = groups(),
            .categories = categories_.data(),
            .coordinates = coordinates_.data(),
            .stride = blocks() * block_size,
            .block_boxes = block_boxes_.view(),
            .group_boxes = group_boxes_.view()};
}

void SpatialOrder::BoxArrays::resize(std::size_t boxes, std::size_t dimensions) {
    stride = rounded_up(boxes, group_size);
    low.assign(stride * dimensions, infinity);
    high.assign(stride * dimensions, infinity);
}

void SpatialOrder::bound(BoxArrays& boxes, std::size_t count, std::size_t points_each) {
    boxes.resize(count, dimensions_);
    for (std::size_t c = 0; c < dimensions_; ++c) {
        const double* column = coordinates_.data() + c * blocks() * block_size;
        for (std::size_t b = 0; b < count; ++b) {
            const std::size_t first = b * points_each;
            const auto [low, high] =
                std::minmax_element(column + first, column + std::min(first + points_each, points()));
            boxes.low[c * boxes.stride + b] = *low;
            boxes.high[c * boxes.stride + b] = *high;
        }
    }
}

}  // namespace knnmi
