// The neighbours of one point along a y, from the nearest value on. What is near there is looked at in x and z, eight
// points at a time.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

class PointAlong {
public:
    PointAlong(const OrderedRows& rows, std::size_t row, std::size_t place)
        : rows_(rows),
          place_(place),
          y_(rows.y[place]),
          own_y_(broadcast(y_)),
          own_x_(broadcast(rows.x[row])),
          own_z_(broadcast(rows.z[row])),
          y_cap_(broadcast(rows.y_cap)),
          x_cap_(broadcast(rows.x_cap)),
          z_cap_(broadcast(rows.z_cap)) {}

    // Calls visit(distances) for the points of either side that are near in y, and others, until each next one is not.
    // Where there are fewer than eight, `nothing` stands in the place of a distance.
    template <class Near, class Visit>
    void outward(double nothing, const Near& near, const Visit& visit) const {
        std::size_t below = place_, above = place_ + 1;
        for (;;) {
            const bool down = below > 0 && near(distance_in_y(below - 1));
            const bool up = above < rows_.points && near(distance_in_y(above));
            if (!down && !up) return;
            if (down) {
                visit(below < lanes ? distances_around(0, below, nothing) : distances(below - lanes));
                below = below < lanes ? 0 : below - lanes;
            }
            if (up) {
                visit(above + lanes > rows_.points ? distances_around(above, rows_.points, nothing) : distances(above));
                above += lanes;
            }
        }
    }

private:
    double distance_in_y(std::size_t place) const {
        const double d = rows_.y[place] - y_, apart = d < 0.0 ? -d : d;
        return apart < rows_.y_cap ? apart : rows_.y_cap;
    }

    Doubles distances(std::size_t first) const {
        const Positions rows =
            rows_.short_rows != nullptr ? load_positions(rows_.short_rows + first) : load_positions(rows_.rows + first);
        const auto apart = [](Doubles values, Doubles own, Doubles cap) {
            return min(absolute(subtract(values, own)), cap);
        };
        return max(apart(load(rows_.y + first), own_y_, y_cap_),
                   max(apart(gather(rows_.x, rows), own_x_, x_cap_), apart(gather(rows_.z, rows), own_z_, z_cap_)));
    }

    Doubles distances_around(std::size_t begin, std::size_t end, double nothing) const {
        const std::size_t first = end < lanes ? 0 : end - lanes;
        double found[lanes];
        store(found, distances(first));
        for (std::size_t i = 0; i < lanes; ++i)
            if (first + i < begin || first + i >= end) found[i] = nothing;
        return load(found);
    }

    const OrderedRows& rows_;
    std::size_t place_;
    double y_;
    Doubles own_y_, own_x_, own_z_, y_cap_, x_cap_, z_cap_;
};

inline double nearest_along(const OrderedRows& rows, std::size_t row, std::size_t place, double bound, std::size_t k,
                            double* room) {
    return with_smallest_of_all(k, room, [&](auto nearest) {
        std::size_t looked = 0, next = 8;  // at how many is the bound found anew: less and less often
        PointAlong(rows, row, place)
            .outward(
                __builtin_inf(), [&](double d) { return d < bound; },
                [&](Doubles distances) {
                    nearest.insert(distances);
                    if (++looked < next) return;
                    next *= 2;
                    const double kth = nearest.largest_over_lanes();
                    bound = kth < bound ? kth : bound;
                });
        const double kth = nearest.largest_over_lanes();
        return kth < bound ? kth : bound;
    });
}

inline std::size_t within_along(const OrderedRows& rows, std::size_t row, std::size_t place, double radius) {
    const Doubles reach = broadcast(radius);
    std::size_t found = 0;
    PointAlong(rows, row, place)
        .outward(
            __builtin_nan(""), [&](double d) { return d <= radius; },
            [&](Doubles distances) { found += count(bits(less_equal(distances, reach))); });
    return found;
}

}  // namespace knnmi::KNNMI_ISA
