// The neighbours of one point along a y, from the nearest value on. What is near there is looked at in other columns,
// eight points at a time.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

// Eight places in y; those wanted among them as bits.
struct EightPlaces {
    std::size_t first;
    unsigned wanted;
};

class PointAlong {
public:
    PointAlong(const OrderedRows& rows, std::size_t row, std::size_t place)
        : rows_(rows), row_(row), place_(place), y_(rows.y[place]) {}

    // Calls visit(eight places) for those of either side that are near in y, and others, until each next one is not.
    // False from it ends the walk.
    template <class Near, class Visit>
    void outward(const Near& near, const Visit& visit) const {
        std::size_t below = place_, above = place_ + 1;
        for (;;) {
            const bool down = below > 0 && near(distance_in_y(below - 1));
            const bool up = above < rows_.points && near(distance_in_y(above));
            if (!down && !up) return;
            if (down) {
                const std::size_t many = below < lanes ? below : lanes;
                below -= many;
                if (!visit(EightPlaces{below, (1u << many) - 1})) return;
            }
            if (up) {
                const std::size_t beyond = above + lanes < rows_.points ? 0 : above + lanes - rows_.points;
                if (!visit(EightPlaces{above - beyond, 0xffu & 0xffu << beyond})) return;
                above += lanes - beyond;
            }
        }
    }

    Doubles distances_in_y(EightPlaces places) const { return apart(load(rows_.y + places.first), y_, rows_.y_cap); }

    Positions rows(EightPlaces places) const {
        return rows_.short_rows != nullptr ? load_positions(rows_.short_rows + places.first)
                                           : load_positions(rows_.rows + places.first);
    }

    Doubles distances_in(std::size_t column, Positions rows) const {
        const double* const values = rows_.columns[column];
        return apart(gather(values, rows), values[row_], rows_.caps[column]);
    }

    // Whether more places than so many are near in y, on either side.
    bool has_more_than(std::size_t many, double radius) const {
        return (place_ > many && distance_in_y(place_ - many) < radius) ||
               (place_ + many < rows_.points && distance_in_y(place_ + many) < radius);
    }

private:
    double distance_in_y(std::size_t place) const {
        const double d = rows_.y[place] - y_, apart = d < 0.0 ? -d : d;
        return apart < rows_.y_cap ? apart : rows_.y_cap;
    }

    static Doubles apart(Doubles values, double own, double cap) {
        return min(absolute(subtract(values, broadcast(own))), broadcast(cap));
    }

    const OrderedRows& rows_;
    std::size_t row_, place_;
    double y_;
};

inline double nearest_along(const OrderedRows& rows, std::size_t row, std::size_t place, double bound, std::size_t most,
                            std::size_t k, double* room) {
    const PointAlong point(rows, row, place);
    return with_smallest_of_all(k, room, [&](auto nearest) {
        std::size_t looked = 0, next = 8;  // at how many eights the bound is found anew: less and less often
        // The bound falls as more are looked at; and the more points there are, the more another way would cost. By how
        // much is as measured.
        const std::size_t patience = rows.points < 100'000 ? rows.points / 1'000 : 100;
        const auto tighten = [&] {
            const double kth = nearest.largest_over_lanes();
            bound = kth < bound ? kth : bound;
        };
        bool ended = false;
        point.outward([&](double d) { return d < bound; },
                      [&](EightPlaces places) {
                          const Positions eight = point.rows(places);
                          Doubles d = only(places.wanted, point.distances_in_y(places), __builtin_inf());
                          bool near = true;
                          for (std::size_t c = rows.columns.size(); c-- > 0 && near;) {
                              d = max(d, point.distances_in(c, eight));
                              near = any(less(d, broadcast(bound)));
                          }
                          if (near) nearest.insert(d);
                          if (++looked < next) return true;
                          next *= 2;
                          tighten();
                          ended = most != no_end && point.has_more_than(most + patience * most / looked, bound);
                          return !ended;
                      });
        if (ended) return -1.0;
        tighten();
        return bound;
    });
}

inline CountsAlongY within_along(const OrderedRows& rows, std::size_t row, std::size_t place, double radius) {
    const PointAlong point(rows, row, place);
    const Doubles reach = broadcast(radius);
    const std::size_t last = rows.columns.size() - 1;
    std::size_t in_yz = 0, in_all = 0;
    point.outward([&](double d) { return d <= radius; },
                  [&](EightPlaces places) {
                      const Positions eight = point.rows(places);
                      Doubles d = point.distances_in_y(places);
                      unsigned near = bits(less_equal(d, reach)) & places.wanted;
                      for (std::size_t column = 0; column < rows.columns.size() && near != 0; ++column) {
                          if (column == last) in_yz += count(near);
                          d = max(d, point.distances_in(column, eight));
                          near &= bits(less_equal(d, reach));
                      }
                      in_all += count(near);
                      return true;
                  });
    return {static_cast<std::uint32_t>(in_yz), static_cast<std::uint32_t>(in_all)};
}

}  // namespace knnmi::KNNMI_ISA
