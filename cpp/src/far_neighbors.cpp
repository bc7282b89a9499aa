#include "far_neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace knnmi {
namespace {

// Without those that are equal to the most frequent one, if many are: between the quartiles there could be no others.
void drop_frequent(std::vector<double>& ascending) {
    std::span<const double> most;
    for (auto first = ascending.begin(), last = first; first != ascending.end(); first = last) {
        last = std::upper_bound(first, ascending.end(), *first);
        if (const std::span<const double> equal(first, last); equal.size() > most.size()) most = equal;
    }
    if (5 * most.size() < 2 * ascending.size()) return;
    const double frequent = most.front();
    std::erase(ascending, frequent);
}

}  // namespace

bool has_far_values(const Points& column) {
    if (column.is_category(0)) return false;
    constexpr std::size_t sample = 400;
    const std::size_t each = column.rows() / sample + 1;
    std::vector<double> values;
    for (std::size_t i = 0; i < column.rows(); i += each) values.push_back(column(i, 0));
    std::sort(values.begin(), values.end());
    drop_frequent(values);
    if (values.empty()) return false;
    const auto quantile = [&](std::size_t percent) { return values[percent * values.size() / 100]; };
    return quantile(99) - quantile(1) > 10.0 * (quantile(75) - quantile(25));
}

FarNeighbors::FarNeighbors(const FixedSide& fixed)
    : fixed_(&fixed),
      xz_order_({fixed.x_points(), fixed.z_points()}),
      xz_(xz_order_.geometry()),
      most_visited_(256 + static_cast<std::size_t>(std::sqrt(static_cast<double>(fixed.k() * fixed.points())))) {
    const Geometry& z = fixed.geometry();
    for (std::size_t c = 0; c < z.dimensions; ++c) {
        columns_.push_back(z.coordinates + c * z.stride);
        caps_.push_back(cap_of(z.categories[c] != 0));
    }
    columns_.push_back(fixed.x());
    caps_.push_back(fixed.x_cap());
    for (std::size_t position = 0; position < fixed.points(); ++position) {
        centers_.push_back(columns_.back()[position]);
        for (std::size_t c = 0; c < z.dimensions; ++c) centers_.push_back(columns_[c][position]);
    }
}

double FarNeighbors::cost(const AscendingColumn& y, std::size_t position, double rho) const {
    const double center = y.values[y.places[position]];
    const auto first = std::lower_bound(y.values.begin(), y.values.end(), center - rho);
    const auto near = static_cast<std::size_t>(std::upper_bound(first, y.values.end(), center + rho) - first);
    if (near > most_visited_ || rho >= y.cap) return std::numeric_limits<double>::infinity();
    return 500.0 + 0.01 * static_cast<double>(fixed_->points()) + static_cast<double>(6 * columns_.size() * near);
}

void FarNeighbors::z_within(std::size_t position, const double* radius, std::size_t radii, std::uint32_t* out) const {
    fixed_->kernels().within_boxes(fixed_->geometry(), fixed_->points(), &centers_[position * columns_.size() + 1],
                                   radius, radii, out);
}

void FarNeighbors::xz_within(std::size_t position, const double* radius, std::size_t radii, std::uint32_t* out) const {
    fixed_->kernels().within_boxes(xz_, fixed_->points(), &centers_[position * columns_.size()], radius, radii, out);
}

std::optional<double> FarNeighbors::kth_distance(const AscendingColumn& y, std::size_t position, double bound,
                                                 double* room) const {
    const double found = fixed_->kernels().nearest_along(y.ordered(columns_, caps_), position, y.places[position],
                                                         bound, most_visited_, fixed_->k(), room);
    if (found < 0.0) return {};
    return found;
}

CountsAlongY FarNeighbors::within(const AscendingColumn& y, std::size_t position, double radius) const {
    return fixed_->kernels().within_along(y.ordered(columns_, caps_), position, y.places[position], radius);
}

}  // namespace knnmi
