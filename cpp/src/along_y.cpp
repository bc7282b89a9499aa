#include "along_y.hpp"

#include <algorithm>

namespace knnmi {

AlongY::AlongY(const FixedSide& fixed, const Points& x)
    : fixed_(&fixed),
      row_(fixed.order().rows()),
      x_(values_of(x)),
      caps_{fixed.line().z_cap(), fixed.x_cap()},
      ranked_x_(fixed.ranked(nullptr, x_, fixed.x_cap(), RankedColumn::Counts::by_grid)),
      kernels_(&fixed.kernels()) {
    const SortedLine& line = fixed.line();
    const std::size_t n = x_.size();
    std::vector<std::uint32_t> along(n);  // where each row of the data is on the line
    std::vector<double> x_along(n);
    for (std::size_t i = 0; i < n; ++i) {
        along[line.rows()[i]] = static_cast<std::uint32_t>(i);
        x_along[i] = x_[line.rows()[i]];
    }
    for (std::uint32_t& row : row_) row = along[row];
    x_ = std::move(x_along);
    columns_ = {line.z().values, x_.data()};
    std::vector<double> both = x_;
    both.insert(both.end(), line.z().values, line.z().values + n);
    cells_ = RowLabels().of(Points::column_major(both.data(), n, 2));
}

double AlongY::kth_distance(const RankedColumn& y, std::size_t position, double bound, std::size_t k,
                            double* room) const {
    const std::uint32_t row = row_[position];
    return kernels_->nearest_along(y.ordered(columns_, caps_), row, y.place(row), bound, no_end, k, room);
}

std::size_t AlongY::joint_within(const RankedColumn& y, std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    if (radius == 0.0) return y.coincident(cells_)[row];  // of very many, maybe
    return kernels_->within_along(y.ordered(columns_, caps_), row, y.place(row), radius).joint;
}

std::size_t AlongY::to_list(std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    std::size_t points = kernels_->line_within(x_line(), x_[row], columns_[0][row], radius).yz;
    for (const EqualPoints& set : fixed_->sets())
        if (fixed_->distance(position, set.position()) <= radius) points -= set.points();
    return points;
}

std::size_t AlongY::y_within(const RankedColumn& y, double value, double radius) const {
    RankedLine alone = y.view();
    alone.z = nullptr;
    alone.ranks = nullptr;
    alone.grid = nullptr;
    return kernels_->line_within(alone, value, 0.0, radius).yz - 1;
}

}  // namespace knnmi
