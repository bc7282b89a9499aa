// One point of a space of x, y and z, beside many y: its k-th neighbour, and how many are as near.
//
// x and z stay while y changes, so what is near in both is found once for each of a ladder of radii and kept as bits by
// place in z. Of a y, the radius that likely holds k neighbours has a window of places, and what is in it is found 64
// places at a time; only that is looked at as numbers. Where the window in y is the narrowest, the search goes along y.
// Where k others are equal to a point, it is known how many are, and nothing is searched.
#pragma once

#include "kernels/plane.hpp"

namespace knnmi::KNNMI_ISA {

inline std::uint64_t between_64(const std::uint16_t* values, Range wanted) {
    const auto low = static_cast<std::uint16_t>(wanted.begin), span = static_cast<std::uint16_t>(size(wanted));
    return std::uint64_t{between(values + 32, low, span)} << 32 | between(values, low, span);
}

// The bits of places before the end, the first bit being that of `first`.
inline std::uint64_t bits_before(std::size_t end, std::size_t first) {
    return end - first < 64 ? (std::uint64_t{1} << (end - first)) - 1 : ~std::uint64_t{0};
}

// The window of places within one of the radii of a place.
inline Range level_window(const SpaceAxis& axis, std::size_t place, std::size_t level) {
    const std::size_t at = most_radii * place + level;
    return {axis.begin[at], axis.end[at]};
}

inline std::size_t count_near(const double* distances, std::size_t n, double radius) {
    const Doubles reach = broadcast(radius);
    Integers found = zeros();
    for (std::size_t i = 0; i < n; i += lanes) found = count_up(found, less_equal(load(distances + i), reach));
    std::int64_t by_lane[lanes];
    store(by_lane, found);
    std::int64_t total = 0;
    for (const std::int64_t lane : by_lane) total += lane;
    return static_cast<std::size_t>(total);
}

// The place of the point in y, and what is tried for it.
struct SpaceQuery {
    std::size_t in_y, level;
    double y, radius;
    Range near_y, near_z;
};

template <bool WithCategories>
class SpacePoint {
public:
    SpacePoint() = default;
    SpacePoint(const Space& space, std::size_t place, SpaceScratch& scratch)
        : space_(&space),
          scratch_(&scratch),
          in_z_(place),
          in_x_(space.places_in_x[place]),
          x_(space.x_along_z[place]),
          z_(space.z.sorted->values[place]) {
        for (Disc& disc : scratch.discs) disc.made = false;
    }

    // The first radius that likely holds enough.
    SpaceQuery query(const SpaceColumn& column) const {
        SpaceQuery q;
        q.in_y = column.places_in_y[in_z_];
        q.y = column.y.sorted->values[q.in_y];
        const std::size_t at = most_radii * q.in_y;
        q.level = static_cast<std::size_t>(__builtin_ctz(
            as_wide(column.y.begin + at, column.y.end + at, space_->enough + most_radii * in_z_) | 0x80000000u));
        return q;
    }

    // The k-th distance and, at `reach` times it, the joint count.
    template <class None>
    double nearest(const SpaceColumn& column, SpaceQuery& q, const None& none, std::size_t k, double reach,
                   std::uint32_t* joint) {
        const std::size_t wanted = q.level;
        if (WithCategories && q.level > space_->below_cap) q.level = space_->below_cap;
        for (std::size_t step = 1;; step *= 2) {
            if (column.equal != nullptr && column.equal[in_z_] < k) {
                std::size_t all = 0;
                const double only = only_distance(column, q, all);
                if (all >= k) {
                    if (joint != nullptr) *joint = static_cast<std::uint32_t>(all);
                    return only;
                }
            }
            auto nearest = none();
            const std::size_t found = gather(column, q, nearest);
            const double kth = nearest.kth(), needed = reach > 1.0 ? kth * reach : kth;
            if (needed <= space_->radius[q.level]) {
                if (joint != nullptr)
                    *joint = static_cast<std::uint32_t>(count_within(scratch_->distances, found, kth * reach));
                return kth;
            }
            if (WithCategories && q.level == space_->below_cap && kth >= cap &&
                within_beyond_cap(column, q, cap) >= k) {
                if (joint != nullptr) *joint = static_cast<std::uint32_t>(within_beyond_cap(column, q, cap * reach));
                q.level = most_radii - 1;  // the radius is beyond this one
                return cap;
            }
            std::size_t next = q.level + step < wanted ? wanted : q.level + step;
            if (next >= most_radii) next = most_radii - 1;
            while (space_->radius[next - 1] >= needed && next - 1 > q.level) --next;
            q.level = next;
        }
    }

    // Within the radius in z, (x, z) and (y, z), the point itself not included.
    void find_windows(const SpaceColumn& column, SpaceQuery& q) const {
        q.near_y = near_on(column.y, q.y, q.radius);
        q.near_z = near_on(space_->z, z_, q.radius);
    }

    std::size_t count_xz(const SpaceQuery& q) const {
        const Disc& disc = scratch_->discs[q.level];
        if (disc.made && disc.near <= longest_near) return count_near(disc.distances, disc.near, q.radius);
        const Range near_x = near_on(space_->x, x_, q.radius);
        const bool by_z = size(q.near_z) <= size(near_x);
        if (size(by_z ? near_x : q.near_z) == space_->points) return size(by_z ? q.near_z : near_x) - 1;
        return (by_z ? numbers_within(space_->places_in_x, q.near_z, near_x)
                     : numbers_within(space_->z_along_x, near_x, q.near_z)) -
               1;
    }

    std::size_t count_yz(const SpaceColumn& column, const SpaceQuery& q) const {
        const Range in_y = in_order(column, q.near_y);
        const bool by_y = size(in_y) < size(q.near_z);
        if (size(by_y ? q.near_z : in_y) == space_->points) return size(by_y ? in_y : q.near_z) - 1;
        return (by_y ? numbers_within(column.z_along_y, in_y, q.near_z)
                     : numbers_within(column.places_in_y, q.near_z, q.near_y)) -
               1;
    }

private:
    static constexpr double cap = cap_of(true);

    // The points at places in y, as a range of the order of y.
    static Range in_order(const SpaceColumn& column, Range places) {
        return {column.before[places.begin], column.before[places.end]};
    }

    // How many others are within a radius that is at least the cap: on one axis or more, all are.
    std::size_t within_beyond_cap(const SpaceColumn& column, const SpaceQuery& q, double radius) const {
        SpaceQuery at = q;
        at.radius = radius;
        find_windows(column, at);
        const Range near_x = near_on(space_->x, x_, radius);
        if (size(near_x) == space_->points) return count_yz(column, at);
        if (size(at.near_z) < space_->points) {
            at.level = most_radii - 1;
            return count_xz(at);
        }
        return numbers_within(column.x_places_along_y, in_order(column, at.near_y), near_x) - 1;
    }

    double distance(std::size_t place) const {
        const double in_x = apart<WithCategories>(space_->x_along_z[place], x_, space_->x.cap);
        const double in_z = apart<WithCategories>(space_->z.sorted->values[place], z_, space_->z.cap);
        return in_x < in_z ? in_z : in_x;
    }

    // On an axis, the least distance to another value, and the largest one within the radius.
    static void bound(const SpaceAxis& axis, std::size_t place, double radius, double& least, double& most) {
        const double* const values = axis.sorted->values;
        const double value = values[place];
        const Range window = near_on(axis, value, radius);
        const auto raise = [&](double d) {
            const double capped = axis.cap < d ? axis.cap : d;
            most = capped > most ? capped : most;
        };
        least = axis.gap[place] < least ? axis.gap[place] : least;
        raise(value - values[window.begin]);
        raise(values[window.end - 1] - value);
    }

    // The distance of all others within the level's radius that are not equal to the point, if they have one, and some
    // room is left to the radius; else 0. If so, counts them together with those that are equal.
    double only_distance(const SpaceColumn& column, const SpaceQuery& q, std::size_t& all) {
        const double radius = space_->radius[q.level];
        disc(q.level);
        Disc& near = scratch_->discs[q.level];
        if (near.most < 0.0) {
            near.most = 0.0;
            bound(space_->x, in_x_, radius, near.least, near.most);
            bound(space_->z, in_z_, radius, near.least, near.most);
        }
        double least = near.least, most = near.most;
        if (most > least || most > column.y.gap[q.in_y]) return 0.0;
        bound(column.y, q.in_y, radius, least, most);
        if (least != most || !(most * (1.0 + 1e-9) < radius)) return 0.0;
        all = count_all(column, near, near_on(column.y, q.y, radius));
        return most;
    }

    // How many of a disc are within a window in y.
    static std::size_t count_all(const SpaceColumn& column, const Disc& near, Range window) {
        std::size_t found = 0;
        for (std::size_t w = 0; w < near.words; ++w) {
            const std::uint64_t both = between_64(column.places_in_y + near.first[w], window) & near.chosen[w];
            found += count(static_cast<std::uint32_t>(both)) + count(static_cast<std::uint32_t>(both >> 32));
        }
        return found;
    }

    Range level_z(std::size_t level) const { return level_window(space_->z, in_z_, level); }
    Range level_x(std::size_t level) const { return level_window(space_->x, in_x_, level); }

    void look_along_z(Range window) {
        if (known_.begin == known_.end) known_ = {window.begin, window.begin};
        if (window.begin < known_.begin) look({window.begin, known_.begin});
        if (window.end > known_.end) look({known_.end, window.end});
        known_ = {window.begin < known_.begin ? window.begin : known_.begin,
                  window.end > known_.end ? window.end : known_.end};
    }

    void look(Range places) const {
        for (std::size_t i = places.begin; i < places.end; ++i) scratch_->from_here[i] = distance(i);
    }

    const Disc& disc(std::size_t level) {
        Disc& disc = scratch_->discs[level];
        if (disc.made) return disc;
        const Range near_x = level_x(level), near_z = level_z(level);
        look_along_z(near_z);
        disc.made = true;
        disc.words = disc.near = 0;
        disc.least = __builtin_inf();
        disc.most = -1.0;
        for (std::size_t first = near_z.begin; first < near_z.end; first += 64) {
            std::uint64_t chosen = between_64(space_->places_in_x + first, near_x) & bits_before(near_z.end, first);
            if (in_z_ - first < 64) chosen &= ~(std::uint64_t{1} << (in_z_ - first));
            if (chosen == 0) continue;
            disc.first[disc.words] = static_cast<std::uint32_t>(first);
            disc.chosen[disc.words++] = chosen;
            for (; chosen != 0 && disc.near <= longest_near; chosen &= chosen - 1)
                disc.distances[disc.near++] =
                    scratch_->from_here[first + static_cast<std::size_t>(__builtin_ctzll(chosen))];
        }
        if (disc.near <= longest_near)
            for (std::size_t i = 0; i < lanes; ++i) disc.distances[disc.near + i] = __builtin_nan("");  // never near
        return disc;
    }

    // Inserts the distances of other points, all those within the radius among them, and returns how many. It may stop
    // once all that are kept are 0.
    template <class Kept>
    std::size_t gather(const SpaceColumn& column, const SpaceQuery& q, Kept& nearest) {
        const Range window = level_window(column.y, q.in_y, q.level), in_y = in_order(column, window);
        const Disc& known = scratch_->discs[q.level];
        const std::size_t along_z = known.made ? 64 * known.words : size(level_z(q.level));
        return 4 * size(in_y) < along_z ? gather_along_y(column, q, in_y, nearest)
                                        : gather_along_z(column, q, window, nearest);
    }

    template <class Kept>
    std::size_t gather_along_z(const SpaceColumn& column, const SpaceQuery& q, Range window, Kept& nearest) {
        const Disc& near = disc(q.level);
        const double* const ys = column.y.sorted->values;
        const std::uint16_t* const places = column.places_in_y;
        const double* const from_here = scratch_->from_here;
        double* const distances = scratch_->distances;
        Kept kept = nearest;
        const double y = q.y, y_cap = column.y.cap;
        std::size_t found = 0;
        for (std::size_t w = 0; w < near.words;) {
            std::uint32_t chosen[stretch + 64];
            std::size_t many = 0;
            for (; w < near.words && many <= stretch; ++w) {
                const std::size_t first = near.first[w];
                many +=
                    append_few(between_64(column.places_in_y + first, window) & near.chosen[w], first, chosen + many);
            }
            for (std::size_t j = 0; j < many; ++j) {
                const std::uint32_t i = chosen[j];
                const double d = from_here[i], d_y = apart<WithCategories>(ys[places[i]], y, y_cap);
                const double largest = d < d_y ? d_y : d;
                kept.insert(largest);
                distances[found++] = largest;
            }
            if (kept.bound() == 0.0) break;
        }
        nearest = kept;
        return found;
    }

    template <class Kept>
    std::size_t gather_along_y(const SpaceColumn& column, const SpaceQuery& q, Range window, Kept& nearest) const {
        const Range near_x = level_x(q.level), near_z = level_z(q.level);
        const double* const ys = column.y.sorted->values;
        std::size_t found = 0;
        for (std::size_t first = window.begin; first < window.end;) {
            std::uint32_t chosen[stretch + 64];
            std::size_t many = 0;
            for (; first < window.end && many <= stretch; first += 64)
                many +=
                    append_few(between_64(column.z_along_y + first, near_z) &
                                   between_64(column.x_places_along_y + first, near_x) & bits_before(window.end, first),
                               first, chosen + many);
            for (std::size_t j = 0; j < many; ++j) {
                const std::size_t i = column.z_along_y[chosen[j]];
                if (i == in_z_) continue;
                const double d = distance(i), d_y = apart<WithCategories>(ys[column.places_in_y[i]], q.y, column.y.cap);
                const double largest = d < d_y ? d_y : d;
                nearest.insert(largest);
                scratch_->distances[found++] = largest;
            }
            if (nearest.bound() == 0.0) break;
        }
        return found;
    }

    static constexpr std::size_t stretch = 128;

    const Space* space_;
    SpaceScratch* scratch_;
    std::size_t in_z_, in_x_;
    double x_, z_;
    Range known_{0, 0};  // places whose distance is known
};

inline void space_near(const Space& space, std::size_t place, std::size_t radii, std::uint32_t* out) {
    for (std::size_t l = 0; l < radii; ++l) {
        const Range near_x = level_window(space.x, space.places_in_x[place], l);
        const Range near_z = level_window(space.z, place, l);
        const std::size_t both = size(near_z) <= size(near_x) ? numbers_within(space.places_in_x, near_z, near_x)
                                                              : numbers_within(space.z_along_x, near_x, near_z);
        out[l] = static_cast<std::uint32_t>(both - 1);
    }
}

template <bool WithCategories, class None>
inline void space_within_with(const Space& space, std::size_t begin, std::size_t points, const SpaceColumn* columns,
                              std::size_t count, const None& none, std::size_t k, double reach, SpaceScratch* scratch,
                              const SpaceCounts& counts) {
    constexpr std::size_t run = 16;  // searches for so many columns overlap in the processor
    SpacePoint<WithCategories> block[most_points];
    for (std::size_t p = 0; p < points; ++p) block[p] = SpacePoint<WithCategories>(space, begin + p, scratch[p]);
    // Points after each other read the same places of a column.
    for (std::size_t first = 0; first < count; first += run) {
        const std::size_t many = count - first < run ? count - first : run;
        for (std::size_t p = 0; p < points; ++p) {
            SpacePoint<WithCategories>& point = block[p];
            const std::size_t place = begin + p, at = p * count + first;
            SpaceQuery queries[run];
            const auto k_are_equal = [&](const SpaceColumn& column) {
                return column.equal != nullptr && column.equal[place] >= k;
            };
            for (std::size_t i = 0; i < many; ++i)
                if (!k_are_equal(columns[first + i])) queries[i] = point.query(columns[first + i]);
            for (std::size_t i = 0; i < many; ++i) {
                if (k_are_equal(columns[first + i])) continue;
                std::uint32_t* const joint = counts.joint == nullptr ? nullptr : counts.joint + at + i;
                queries[i].radius = reach * point.nearest(columns[first + i], queries[i], none, k, reach, joint);
            }
            for (std::size_t i = 0; i < many; ++i)
                if (!k_are_equal(columns[first + i])) point.find_windows(columns[first + i], queries[i]);
            for (std::size_t i = 0; i < many; ++i) {
                const SpaceColumn& column = columns[first + i];
                if (k_are_equal(column)) {
                    counts.xz[at + i] = space.equal[place];
                    counts.yz[at + i] = column.equal_yz[place];
                    counts.z[at + i] = space.equal_z[place];
                    counts.joint[at + i] = column.equal[place];
                } else {
                    counts.xz[at + i] = static_cast<std::uint32_t>(point.count_xz(queries[i]));
                    counts.yz[at + i] = static_cast<std::uint32_t>(point.count_yz(column, queries[i]));
                    counts.z[at + i] = static_cast<std::uint32_t>(size(queries[i].near_z) - 1);
                }
            }
        }
    }
}

inline void space_within(const Space& space, std::size_t begin, std::size_t points, const SpaceColumn* columns,
                         std::size_t count, std::size_t k, double reach, SpaceScratch* scratch,
                         const SpaceCounts& counts) {
    with_one_smallest(k, scratch->room, [&](const auto& none) {
        if (space.categories)
            space_within_with<true>(space, begin, points, columns, count, none, k, reach, scratch, counts);
        else
            space_within_with<false>(space, begin, points, columns, count, none, k, reach, scratch, counts);
    });
}

}  // namespace knnmi::KNNMI_ISA
