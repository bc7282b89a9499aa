#include "along_y.hpp"

#include <algorithm>
#include <cmath>

namespace knnmi {
bool has_outliers(const SortedColumn& column) {
    const std::span<const double> values = column.values();
    const std::size_t n = values.size();
    return values[n - 1] - values[0] > 20.0 * (values[3 * n / 4] - values[n / 4]);
}

AlongY::AlongY(const FixedSide& fixed, const Points& x)
    : row_(fixed.order().rows()),
      x_(values_of(x)),
      x_cap_(fixed.x_cap()),
      z_cap_(fixed.line().z_cap()),
      ranked_x_(fixed.ranked(nullptr, x_, fixed.x_cap())),
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
    z_.assign(line.z().values, line.z().values + n);
    std::vector<double> both = x_;
    both.insert(both.end(), z_.begin(), z_.end());
    cells_ = RowLabels().of(Points::column_major(both.data(), n, 2));
}

double AlongY::kth_distance(const RankedColumn& y, std::size_t position, KSmallest& nearest) const {
    const std::uint32_t row = row_[position];
    nearest.clear();
    y.ascending().outward(
        row, [&](double d) { return d < nearest.bound(); },
        [&](std::uint32_t other, double d) {
            d = std::max(d, xz_distance(row, other));
            if (d < nearest.bound()) nearest.insert(d);
            return true;
        });
    return nearest.kth();
}

std::size_t AlongY::joint_within(const RankedColumn& y, std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    if (radius == 0.0) return y.coincident(cells_)[row];  // of very many, maybe
    std::size_t found = 0;
    y.ascending().outward(
        row, [radius](double d) { return d <= radius; },
        [&](std::uint32_t other, double) {
            found += xz_distance(row, other) <= radius;
            return true;
        });
    return found;
}

std::size_t AlongY::xz_within(std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    return kernels_->line_within(ranked_x_.view(), x_[row], z_[row], radius).yz - 1;
}

std::size_t AlongY::y_within(const RankedColumn& y, double value, double radius) const {
    RankedLine alone = y.view();
    alone.z = nullptr;
    alone.ranks = nullptr;
    alone.grid = nullptr;
    return kernels_->line_within(alone, value, 0.0, radius).yz - 1;
}

double AlongY::xz_distance(std::uint32_t row, std::uint32_t other) const {
    const double x = std::min(std::abs(x_[other] - x_[row]), x_cap_);
    return std::max(x, std::min(std::abs(z_[other] - z_[row]), z_cap_));
}

}  // namespace knnmi
