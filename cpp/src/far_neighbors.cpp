#include "far_neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace knnmi {
namespace {

enum class Place { outside, partly, inside };

// Where a box lies as to what is within the radius. Rounded differences are monotone: that from an end of the box is
// not below that from a point inside.
Place place_of(const Geometry& geometry, const Boxes& boxes, std::size_t box, const double* center, double radius) {
    Place place = Place::inside;
    for (std::size_t c = 0; c < geometry.dimensions; ++c) {
        const double cap = cap_of(geometry.categories[c] != 0);
        const double to_low = center[c] - boxes.low[c * boxes.stride + box];
        const double to_high = boxes.high[c * boxes.stride + box] - center[c];
        if (std::min(std::max(-to_low, -to_high), cap) > radius) return Place::outside;
        if (std::min(std::max(to_low, to_high), cap) > radius) place = Place::partly;
    }
    return place;
}

std::size_t count_in_block(const Geometry& geometry, std::size_t block, std::size_t points, const double* center,
                           double radius) {
    double distance[block_size] = {};
    for (std::size_t c = 0; c < geometry.dimensions; ++c) {
        const double* const coordinate = geometry.coordinates + c * geometry.stride + block * block_size;
        const double own = center[c], cap = cap_of(geometry.categories[c] != 0);
        for (std::size_t p = 0; p < block_size; ++p)
            distance[p] = std::max(distance[p], std::min(std::abs(coordinate[p] - own), cap));
    }
    return static_cast<std::size_t>(
        std::count_if(distance, distance + points, [radius](double d) { return d <= radius; }));
}

// Points within the radius of the center, by groups, blocks and points. The last ones of each are not full.
std::size_t count_within(const Geometry& geometry, std::size_t points, const double* center, double radius) {
    const auto size = [&](std::size_t box, std::size_t each) {
        return std::min((box + 1) * each, points) - box * each;
    };
    std::size_t found = 0;
    for (std::size_t group = 0; group < geometry.groups; ++group) {
        const Place place = place_of(geometry, geometry.group_boxes, group, center, radius);
        if (place == Place::inside) found += size(group, group_size * block_size);
        if (place != Place::partly) continue;
        const std::size_t end = std::min((group + 1) * group_size, geometry.blocks);
        for (std::size_t block = group * group_size; block < end; ++block) {
            const Place within = place_of(geometry, geometry.block_boxes, block, center, radius);
            if (within == Place::inside) found += size(block, block_size);
            if (within == Place::partly)
                found += count_in_block(geometry, block, size(block, block_size), center, radius);
        }
    }
    return found;
}

}  // namespace

bool has_far_values(const Points& column) {
    if (column.is_category(0)) return false;
    constexpr std::size_t sample = 1000;
    const std::size_t each = column.rows() / sample + 1;
    std::vector<double> values;
    for (std::size_t i = 0; i < column.rows(); i += each) values.push_back(column(i, 0));
    const auto quantile = [&](std::size_t percent) {
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(percent * values.size() / 100);
        std::nth_element(values.begin(), at, values.end());
        return *at;
    };
    return quantile(99) - quantile(1) > 10.0 * (quantile(75) - quantile(25));
}

FarNeighbors::FarNeighbors(const FixedSide& fixed)
    : fixed_(&fixed),
      xz_order_({fixed.x_points(), fixed.z_points()}),
      xz_(xz_order_.geometry()),
      most_visited_(256 + static_cast<std::size_t>(4 * std::sqrt(static_cast<double>(fixed.k() * fixed.points())))) {}

double FarNeighbors::cost(const AscendingColumn& y, std::size_t position, double rho) const {
    const double center = y.values[y.places[position]];
    const auto first = std::lower_bound(y.values.begin(), y.values.end(), center - rho);
    const auto near = static_cast<std::size_t>(std::upper_bound(first, y.values.end(), center + rho) - first);
    if (near > most_visited_ || rho >= y.cap) return std::numeric_limits<double>::infinity();
    return 100.0 + static_cast<double>(fixed_->points()) / 8.0 + 8.0 * static_cast<double>(near);
}

std::size_t FarNeighbors::z_within(std::size_t position, double radius) const {
    const Geometry& z = fixed_->geometry();
    std::vector<double> center;
    for (std::size_t c = 0; c < z.dimensions; ++c) center.push_back(z.coordinates[c * z.stride + position]);
    return count_within(z, fixed_->points(), center.data(), radius) - 1;
}

std::optional<double> FarNeighbors::kth_distance(const AscendingColumn& y, std::size_t position,
                                                 KSmallest& nearest) const {
    std::size_t visited = 0;
    nearest.clear();
    y.outward(
        static_cast<std::uint32_t>(position), [&](double d) { return d < nearest.bound(); },
        [&](std::size_t other, double d) {
            d = std::max(d, xz_distance(position, other));
            if (d < nearest.bound()) nearest.insert(d);
            return ++visited < most_visited_;
        });
    if (visited == most_visited_) return {};
    return nearest.kth();
}

FarNeighbors::Counts FarNeighbors::within(const AscendingColumn& y, std::size_t position, double radius) const {
    const Geometry& z = fixed_->geometry();
    std::vector<double> center{fixed_->x()[position]};
    for (std::size_t c = 0; c < z.dimensions; ++c) center.push_back(z.coordinates[c * z.stride + position]);
    Counts n{.xz = count_within(xz_, fixed_->points(), center.data(), radius) - 1,
             .yz = 0,
             .z = z_within(position, radius),
             .joint = 0};
    y.outward(
        static_cast<std::uint32_t>(position), [radius](double d) { return d <= radius; },
        [&](std::size_t other, double) {
            const bool near_in_z = fixed_->distance(position, other) <= radius;
            n.yz += near_in_z;
            n.joint += near_in_z && fixed_->x_distance(position, other) <= radius;
            return true;
        });
    return n;
}

double FarNeighbors::xz_distance(std::size_t position, std::size_t other) const {
    return std::max(fixed_->distance(position, other), fixed_->x_distance(position, other));
}

}  // namespace knnmi
