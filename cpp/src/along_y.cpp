#include "along_y.hpp"

#include <algorithm>
#include <cmath>

namespace knnmi {
namespace {

std::vector<double> values_of(const Points& column) {
    std::vector<double> values(column.rows());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column(i, 0);
    return values;
}

}  // namespace

bool has_far_values(const SortedColumn& column) {
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
    z_.assign(line.z().level[0], line.z().level[0] + n);
    std::vector<double> both = x_;
    both.insert(both.end(), z_.begin(), z_.end());
    cells_ = RowLabels().of(Points::column_major(both.data(), n, 2));
}

double AlongY::kth_distance(const RankedColumn& y, std::size_t position, KSmallest& nearest) const {
    const std::uint32_t row = row_[position];
    nearest.clear();
    outward(
        y, row, [&](double d) { return d < nearest.bound(); },
        [&](std::uint32_t other, double d) {
            d = std::max(d, xz_distance(row, other));
            if (d < nearest.bound()) nearest.insert(d);
        });
    return nearest.kth();
}

std::size_t AlongY::joint_within(const RankedColumn& y, std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    if (radius == 0.0) return y.coincident(cells_)[row];  // of very many, maybe
    std::size_t found = 0;
    outward(
        y, row, [radius](double d) { return d <= radius; },
        [&](std::uint32_t other, double) { found += xz_distance(row, other) <= radius; });
    return found;
}

std::size_t AlongY::xz_within(std::size_t position, double radius) const {
    const std::uint32_t row = row_[position];
    return kernels_->line_within(ranked_x_.view(), x_[row], z_[row], radius).yz - 1;
}

std::size_t AlongY::y_within(const RankedColumn& y, double value, double radius) const {
    RankedLine alone = y.view();
    alone.z = nullptr;
    alone.places = nullptr;
    return kernels_->line_within(alone, value, 0.0, radius).yz - 1;
}

double AlongY::xz_distance(std::uint32_t row, std::uint32_t other) const {
    const double x = std::min(std::abs(x_[other] - x_[row]), x_cap_);
    return std::max(x, std::min(std::abs(z_[other] - z_[row]), z_cap_));
}

// Calls visit(row, distance in y) for the other rows that are near in y, on both sides at once.
template <class Near, class Visit>
void AlongY::outward(const RankedColumn& y, std::uint32_t row, const Near& near, const Visit& visit) const {
    const RankedColumn::Ascending& ascending = y.ascending();
    const double* const values = ascending.values.data();
    const std::size_t n = x_.size();
    std::size_t below = ascending.places[row], above = below + 1;
    const double center = values[below];
    for (bool more = true; more;) {
        more = false;
        if (below > 0) {
            const double d = std::min(center - values[below - 1], y.cap());
            if (near(d)) {
                visit(ascending.rows[--below], d);
                more = true;
            }
        }
        if (above < n) {
            const double d = std::min(values[above] - center, y.cap());
            if (near(d)) {
                visit(ascending.rows[above++], d);
                more = true;
            }
        }
    }
}

}  // namespace knnmi
