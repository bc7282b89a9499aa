// Points of a plane: the k-th neighbour of each, and how many are as near on either axis.
//
// A guess of the radius makes a window on each axis. What is in both is found by comparing places, 32 at a time along
// the axis with the narrower window, and only that is looked at as numbers.
#pragma once

#include "kernels/common.hpp"
#include "kernels/line.hpp"

namespace knnmi::KNNMI_ISA {

// The k smallest values seen, ascending.
template <std::size_t K>
class Smallest {
public:
    Smallest() {
        for (double& value : kept_) value = __builtin_inf();
    }

    void insert(double value) {
        for (std::size_t j = 0; j < K; ++j) {
            // Two comparisons, of which compilers make no branch.
            const double larger = value > kept_[j] ? value : kept_[j];
            kept_[j] = value < kept_[j] ? value : kept_[j];
            value = larger;
        }
    }

    double kth() const { return kept_[K - 1]; }
    double bound() const { return kth(); }

private:
    double kept_[K];
};

// The same for any k, in memory of the caller's: 2 * k values.
class ManySmallest {
public:
    ManySmallest(std::size_t k, double* room) : k_(k), kept_(room) {}

    void insert(double value) {
        if (!(value < bound_)) return;
        kept_[size_++] = value;
        if (size_ == 2 * k_) {
            bound_ = select(kept_, size_, k_);
            size_ = k_;
        }
    }

    double kth() { return size_ < k_ ? __builtin_inf() : select(kept_, size_, k_); }
    double bound() const { return bound_; }  // at least the k-th, and known already

private:
    std::size_t k_, size_ = 0;
    double* kept_;
    double bound_ = __builtin_inf();
};

template <std::size_t K = 1, class Function>
inline void with_one_smallest(std::size_t k, double* room, const Function& f) {
    if constexpr (K == largest_unrolled) {
        f([=] { return ManySmallest(k, room); });
    } else {
        if (k == K) return f([] { return Smallest<K>(); });
        with_one_smallest<K + 1>(k, room, f);
    }
}

template <bool WithCategories>
inline double apart(double a, double b, double cap) {
    const double d = __builtin_fabs(a - b);
    return WithCategories && cap < d ? cap : d;
}

template <class Axis>
inline Range near_on(const Axis& axis, double value, double radius) {
    return sorted_within(*axis.sorted, value, capped_radius(radius, axis.cap));
}

// One point and the radius that is tried for it.
struct PlaneQuery {
    std::size_t in_x, in_y;  // its places
    double x, y, radius;
    bool by_scale;  // whether the first radius came from the scale
    Range near_x, near_y;
};

inline PlaneQuery place_of(const Plane& plane, std::size_t in_x) {
    PlaneQuery q;
    q.in_x = in_x;
    q.in_y = plane.place_in_y[in_x];
    q.x = plane.x.values[q.in_x];
    q.y = plane.y.values[q.in_y];
    return q;
}

inline void look_within(const Plane& plane, PlaneQuery& q, double radius) {
    q.radius = radius;
    q.near_x = near_on(plane.x, q.x, radius);
    q.near_y = near_on(plane.y, q.y, radius);
}

// The place so many places on both sides, if there are.
inline Range around(std::size_t place, double width, std::size_t points) {
    const auto side =
        static_cast<std::size_t>(width < static_cast<double>(points) ? width : static_cast<double>(points));
    const std::size_t end = place + side + 1;
    return {place > side ? place - side : 0, end < points ? end : points};
}

// The distance to the nearest point outside of a window.
inline double next_outside(const PlaneAxis& axis, std::size_t points, double value, Range window) {
    const double* const values = axis.values;
    double next = axis.cap;
    if (window.begin > 0 && value - values[window.begin - 1] < next) next = value - values[window.begin - 1];
    if (window.end < points && values[window.end] - value < next) next = values[window.end] - value;
    return window.begin == 0 && window.end == points ? __builtin_inf() : next;
}

inline double least_cap(const Plane& plane) { return plane.x.cap < plane.y.cap ? plane.x.cap : plane.y.cap; }

// The largest double below a distance; below 0 it is negative, a radius that holds nothing.
inline double just_below(double distance) {
    constexpr double below_1 = 0x1.fffffffffffffp-1, least = 0x1p-1074;
    const double scaled = below_1 * distance;
    return scaled < distance ? scaled : distance - least;
}

// Windows of as many places as a radius is likely to need; the radius is what they surely hold. Where values are equal
// to others on both axes, such windows would end among equal ones: there it is the radius that is likely, and less than
// the cap.
inline void first_look(const Plane& plane, PlaneQuery& q, double scale, double least) {
    const double gap_x = plane.x.gap[q.in_x], gap_y = plane.y.gap[q.in_y];
    if (gap_x > 0.0 && gap_y > 0.0) {
        const double by_scale = scale * plane.x.root[q.in_x] * plane.y.root[q.in_y];
        const double gap = gap_x < gap_y ? gap_x : gap_y;
        q.by_scale = gap < by_scale;
        const double radius = q.by_scale ? by_scale : gap, most = just_below(least_cap(plane));
        look_within(plane, q, radius < most ? radius : most);
        return;
    }
    const double in_window_x = scale * plane.y.root[q.in_y] * plane.x.per_root[q.in_x];
    const double in_window_y = scale * plane.x.root[q.in_x] * plane.y.per_root[q.in_y];
    q.by_scale = in_window_x > least && in_window_y > least;
    q.near_x = around(q.in_x, in_window_x > least ? in_window_x : least, plane.points);
    q.near_y = around(q.in_y, in_window_y > least ? in_window_y : least, plane.points);
    const double next_x = next_outside(plane.x, plane.points, q.x, q.near_x);
    const double next_y = next_outside(plane.y, plane.points, q.y, q.near_y);
    const double next = next_x < next_y ? next_x : next_y;
    q.radius = just_below(next);
    // What is outside may be infinitely far, and so the k-th neighbour too.
    if (next == __builtin_inf()) look_within(plane, q, next);
}

// Appends the numbers of the set bits, 32 or 64, the first being `first`. Any of the places for all bits may be
// written.
template <class Bits>
inline std::size_t append_set(Bits bits, std::size_t first, std::uint32_t* out) {
    std::size_t found = 0;
    for (std::size_t byte = 0; byte < sizeof(Bits); ++byte) {
        const auto chosen = static_cast<unsigned>(bits >> (8 * byte)) & 0xffu;
        compress(out + found, positions_from(static_cast<std::uint32_t>(first + 8 * byte)), chosen);
        found += count(chosen);
    }
    return found;
}

// The same where mostly few bits are set.
inline std::size_t append_few(std::uint64_t bits, std::size_t first, std::uint32_t* out) {
    constexpr std::size_t few = 4;
    const std::size_t found = count(static_cast<std::uint32_t>(bits)) + count(static_cast<std::uint32_t>(bits >> 32));
    if (found > few) return append_set(bits, first, out);
    for (std::size_t i = 0; i < few; ++i) {
        out[i] = static_cast<std::uint32_t>(first) +
                 static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
        bits &= bits - 1;
    }
    return found;
}

// Inserts the distances of other points, all those within the query's radius among them, and returns how many. It may
// stop once all that are kept are 0.
template <bool WithCategories, class Kept>
inline std::size_t gather(const PlaneAxis& axis, const PlaneAxis& other, std::size_t shift, Range window, Range crossed,
                          std::size_t place, Kept& nearest, const PlaneScratch& scratch) {
    constexpr std::size_t stretch = 128;
    const double* const along = axis.values;
    const double* const across = axis.across;
    const double x = along[place], y = across[place], x_cap = axis.cap, y_cap = other.cap;
    const auto low = static_cast<std::uint16_t>(crossed.begin >> shift);
    const auto span = static_cast<std::uint16_t>(((crossed.end - 1) >> shift) - low + 1);
    std::size_t found = 0;
    for (std::size_t begin = window.begin; begin < window.end; begin += stretch) {
        const std::size_t end = window.end - begin < stretch ? window.end : begin + stretch;
        std::uint32_t chosen[stretch];
        std::size_t many = 0;
        for (std::size_t first = begin; first < end; first += 32) {
            const std::uint32_t self = place - first < 32 ? 1u << (place - first) : 0u;
            const std::uint32_t beyond = end - first < 32 ? ~0u << (end - first) : 0u;
            many += append_set(between(axis.crossed + first, low, span) & ~(self | beyond), first, chosen + many);
        }
        for (std::size_t j = 0; j < many; ++j) {
            const std::uint32_t i = chosen[j];
            const double d_x = apart<WithCategories>(along[i], x, x_cap);
            const double d_y = apart<WithCategories>(across[i], y, y_cap);
            const double d = d_x < d_y ? d_y : d_x;
            nearest.insert(d);
            scratch.distances[found++] = d;
        }
        if (nearest.bound() == 0.0) break;
    }
    return found;
}

inline std::size_t count_within(const double* distances, std::size_t n, double radius) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found += distances[i] <= radius;
    return found;
}

// How many others are within a radius that is at least the least cap: on one axis all are.
inline std::size_t within_beyond_cap(const Plane& plane, const PlaneQuery& q, double radius) {
    const std::size_t by_x = size(near_on(plane.x, q.x, radius)), by_y = size(near_on(plane.y, q.y, radius));
    return (by_x < by_y ? by_x : by_y) - 1;
}

// The k-th distance and, at `reach` times it, the joint count.
template <bool WithCategories, class Kept>
inline double plane_nearest(const Plane& plane, PlaneQuery& q, const Kept& none, std::size_t k, double reach,
                            PlaneScratch& scratch, std::uint32_t* joint) {
    const double cap = least_cap(plane), below_cap = just_below(cap);
    double factor = 1.5, learnt = 1.0;
    for (bool first = true;; first = false) {
        auto nearest = none();
        const bool by_x = size(q.near_x) <= size(q.near_y);
        const PlaneAxis &axis = by_x ? plane.x : plane.y, &other = by_x ? plane.y : plane.x;
        const std::size_t found =
            gather<WithCategories>(axis, other, plane.shift, by_x ? q.near_x : q.near_y, by_x ? q.near_y : q.near_x,
                                   by_x ? q.in_x : q.in_y, nearest, scratch);
        const double kth = nearest.kth(), needed = reach > 1.0 ? kth * reach : kth;
        const bool everything = size(q.near_x) == plane.points && size(q.near_y) == plane.points;
        const bool enough = needed <= q.radius || everything;
        // Where all that is nearer than the cap is known and not enough, windows tell the rest.
        if (WithCategories && q.radius == below_cap && kth >= cap && within_beyond_cap(plane, q, cap) >= k) {
            if (joint != nullptr) *joint = static_cast<std::uint32_t>(within_beyond_cap(plane, q, cap * reach));
            return cap;
        }
        // About one of ten points needs a second look, and few look at many others.
        if (first && q.by_scale) learnt = !enough ? 1.05 : found > 4 * k + 8 ? 0.97 : 0.995;
        if (enough) {
            if (kth < cap) scratch.scale *= learnt;
            if (joint != nullptr)
                *joint = static_cast<std::uint32_t>(count_within(scratch.distances, found, kth * reach));
            return kth;
        }
        double wider = q.radius * factor;  // from 0 to 0 if a window was cut among equal values
        const double next_x = next_outside(plane.x, plane.points, q.x, q.near_x);
        const double next_y = next_outside(plane.y, plane.points, q.y, q.near_y);
        const double next = next_x < next_y ? next_x : next_y;
        if (wider < next) wider = next;
        if (needed < wider) wider = needed;
        if (WithCategories && q.radius < below_cap && below_cap < wider) wider = below_cap;
        factor *= factor;
        look_within(plane, q, wider);
    }
}

inline constexpr std::size_t plane_run = 16;  // searches of so many points overlap in the processor

// Of points by their places on the x axis, one run at most, the radius and, if there are to be any, the joint counts.
template <bool WithCategories, class Kept>
inline void plane_radii(const Plane& plane, const std::size_t* places, std::size_t many, const Kept& none,
                        std::size_t k, double reach, PlaneScratch& scratch, double* radius, std::uint32_t* joint) {
    PlaneQuery queries[plane_run];
    const auto least = static_cast<double>(2 * k);
    const auto k_are_equal = [&](std::size_t i) { return joint != nullptr && plane.x.equal[places[i]] >= k; };
    for (std::size_t i = 0; i < many; ++i) {
        queries[i] = place_of(plane, places[i]);
        if (!k_are_equal(i)) first_look(plane, queries[i], scratch.scale, least);
    }
    for (std::size_t i = 0; i < many; ++i) {
        if (k_are_equal(i)) {
            joint[i] = plane.x.equal[places[i]];
            radius[i] = 0.0;
        } else {
            radius[i] = reach * plane_nearest<WithCategories>(plane, queries[i], none, k, reach, scratch,
                                                              joint == nullptr ? nullptr : joint + i);
        }
    }
}

// How many others are within its own radius of each of `many` values on one axis; up to a whole eight can be read.
inline void others_within(const PlaneAxis& axis, const double* values, const double* radius, std::size_t many,
                          std::uint32_t* out) {
    for (std::size_t first = 0; first < many; first += lanes) {
        Range near[lanes];
        double room[lanes];
        each_within(
            axis.sorted->cells, [&](std::size_t) -> const SortedLevels& { return *axis.sorted; }, values + first,
            capped_radii(radius + first, axis.cap, room), near);
        for (std::size_t i = first; i < many && i < first + lanes; ++i)
            out[i] = static_cast<std::uint32_t>(size(near[i - first]) - 1);
    }
}

template <bool WithCategories, class Kept>
inline void plane_within_with(const Plane& plane, std::size_t begin, std::size_t end, const Kept& none, std::size_t k,
                              double reach, PlaneScratch& scratch, const PlaneCounts& counts) {
    std::size_t places[plane_run];
    double radius[plane_run] = {};
    for (std::size_t first = begin; first < end; first += plane_run) {
        const std::size_t many = end - first < plane_run ? end - first : plane_run, at = first - begin;
        for (std::size_t i = 0; i < many; ++i) places[i] = first + i;
        plane_radii<WithCategories>(plane, places, many, none, k, reach, scratch, radius,
                                    counts.joint == nullptr ? nullptr : counts.joint + at);
        others_within(plane.x, plane.x.values + first, radius, many, counts.x + at);
        others_within(plane.y, plane.x.across + first, radius, many, counts.y + at);
    }
}

inline void plane_within(const Plane& plane, std::size_t begin, std::size_t end, std::size_t k, double reach,
                         PlaneScratch& scratch, const PlaneCounts& counts) {
    with_one_smallest(k, scratch.room, [&](const auto& none) {
        if (least_cap(plane) < __builtin_inf())
            plane_within_with<true>(plane, begin, end, none, k, reach, scratch, counts);
        else
            plane_within_with<false>(plane, begin, end, none, k, reach, scratch, counts);
    });
}

}  // namespace knnmi::KNNMI_ISA
