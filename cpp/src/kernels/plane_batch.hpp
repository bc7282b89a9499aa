// Planes with the same x, for eight y's in the lanes of a register. A point looks for its neighbours along x, on both
// sides from the nearest on. Where they are not found soon, they are few along y: there eight points of one plane are
// looked for together. What is left is searched in its plane.
#pragma once

#include "kernels/plane.hpp"

namespace knnmi::KNNMI_ISA {

// Neighbours of one point along x, outward on both sides.
class WalkAlongX {
public:
    WalkAlongX(const PlaneBatch& batch, std::size_t place)
        : left_(batch.planes->x.values + place),
          right_(left_ + 1),
          y_left_(batch.y + place * lanes),
          y_right_(y_left_ + lanes),
          x_(broadcast(*left_)),
          y_(load(y_left_)) {}

    // Visits the distances of others in all planes, two at a time, as long as `open` gives lanes that need those from a
    // distance on, or until so many were looked at. Returns these lanes.
    template <class Open, class Visit>
    [[gnu::always_inline]] unsigned walk(std::size_t most, const Open& open, const Visit& visit) {
        for (;;) {
            const unsigned down = open(below(left_ - 1)), up = open(above(right_));
            if ((down | up) == 0 || static_cast<std::size_t>(right_ - left_) > most) return down | up;
            if (down != 0)
                for (std::size_t i = 0; i < batch_step; i += 2, left_ -= 2, y_left_ -= 2 * lanes)
                    visit(apart(below(left_ - 1), y_left_ - lanes), apart(below(left_ - 2), y_left_ - 2 * lanes));
            if (up != 0)
                for (std::size_t i = 0; i < batch_step; i += 2, right_ += 2, y_right_ += 2 * lanes)
                    visit(apart(above(right_), y_right_), apart(above(right_ + 1), y_right_ + lanes));
        }
    }

private:
    Doubles below(const double* x) const { return subtract(x_, broadcast(*x)); }
    Doubles above(const double* x) const { return subtract(broadcast(*x), x_); }
    Doubles apart(Doubles along_x, const double* y) const { return larger(along_x, subtract(load(y), y_)); }

    const double *left_, *right_, *y_left_, *y_right_;
    Doubles x_, y_;
};

// Neighbours along y of eight points of one plane.
class WalkAlongY {
public:
    WalkAlongY(const Plane& plane, const std::uint32_t* places_in_y)
        : y_(plane.y.values),
          x_(plane.y.across),
          places_(load_positions(places_in_y)),
          own_y_(gather(y_, places_)),
          own_x_(gather(x_, places_)) {}

    template <class Open, class Visit>
    [[gnu::always_inline]] unsigned walk(std::size_t most, const Open& open, const Visit& visit) {
        for (;;) {
            const unsigned need = open(least_);
            if (need == 0 || 2 * steps_ >= most) return need;
            ++steps_;
            const auto step = static_cast<std::ptrdiff_t>(steps_);
            const Doubles below = along_y(-step), above = along_y(step);
            least_ = min(below, above);
            visit(in_plane(-step, below), in_plane(step, above));
        }
    }

private:
    Doubles along_y(std::ptrdiff_t step) const { return distance(gather(y_ + step, places_), own_y_); }
    Doubles in_plane(std::ptrdiff_t step, Doubles along_y) const {
        return larger(along_y, subtract(gather(x_ + step, places_), own_x_));
    }

    const double *y_, *x_;
    Positions places_;
    Doubles own_y_, own_x_, least_ = broadcast(0.0);
    std::size_t steps_ = 0;
};

// Returns the lanes, of those wanted, whose k-th distances a walk found and, at `reach` times them, the joint counts if
// there are to be any.
template <bool WithJoint, class Walk, class Nearest>
[[gnu::flatten]] inline unsigned nearest_on(const Walk& start, std::size_t most, const Nearest& none, double reach,
                                            unsigned wanted, double* kept, double* radius, std::int64_t* joint) {
    Walk walk = start;
    Nearest nearest = none;  // copies, for the compiler to keep them in registers
    double* end = kept;
    const unsigned missed = walk.walk(
        most, [&](Doubles from) { return bits(less(from, nearest.bound())) & wanted; },
        [&](Doubles a, Doubles b) {
            nearest.insert(a, b);
            if constexpr (WithJoint) {
                store(end, a);
                store(end + lanes, b);
                end += 2 * lanes;
            }
        });
    const Doubles kth = nearest.largest(), within = multiply(kth, broadcast(reach));
    store(radius, within);
    const unsigned found = wanted & ~missed & bits(less(within, broadcast(__builtin_inf())));
    if (!WithJoint || found == 0) return found;
    Integers n = zeros();
    for (const double* d = kept; d != end; d += lanes) n = count_up(n, less_equal(load(d), within));
    const unsigned uncounted = walk.walk(
        most, [&](Doubles from) { return bits(less_equal(from, within)) & found; },
        [&](Doubles a, Doubles b) { n = count_up(count_up(n, less_equal(a, within)), less_equal(b, within)); });
    store(joint, n);
    return found & ~uncounted;
}

template <class Walk>
inline unsigned nearest_on(const Walk& walk, std::size_t most, std::size_t k, double reach, unsigned wanted,
                           const PlaneScratch& scratch, double* radius, std::int64_t* joint) {
    return with_few_smallest(k, [&](const auto& none) {
        return joint != nullptr ? nearest_on<true>(walk, most, none, reach, wanted, scratch.distances, radius, joint)
                                : nearest_on<false>(walk, most, none, reach, wanted, scratch.distances, radius, joint);
    });
}

// Whether so many others on one side have the same x.
inline bool is_crowded(const Plane& plane, std::size_t place, std::size_t many) {
    const double* const x = plane.x.values + place;
    return (place + many < plane.points && x[many] == *x) || (place >= many && *(x - many) == *x);
}

// A run of points in all planes of a batch: what is known of them so far.
class BatchRun {
public:
    BatchRun(const PlaneBatch& batch, std::size_t begin, std::size_t end, std::size_t k, double reach,
             PlaneScratch& scratch, const PlaneCounts* counts)
        : batch_(&batch),
          begin_(begin),
          points_(end - begin),
          k_(k),
          reach_(reach),
          scratch_(&scratch),
          counts_(counts),
          with_joint_(counts->joint != nullptr) {}

    void look_along_x() {
        for (std::size_t i = 0; i < points_; ++i) {
            unsigned wanted = 0;
            for (std::size_t l = 0; l < batch_->columns; ++l) {
                if (!with_joint_ || counts_[l].joint[i] < k_)
                    wanted |= 1u << l;
                else
                    radius_[l][i] = 0.0;  // so many are equal
            }
            unsigned found = 0;
            double radius[lanes];
            std::int64_t joint[lanes] = {};
            if (wanted != 0 && !is_crowded(*batch_->planes, begin_ + i, batch_->most / 2))
                found = nearest_on(WalkAlongX(*batch_, begin_ + i), batch_->most, k_, reach_, wanted, *scratch_, radius,
                                   with_joint_ ? joint : nullptr);
            for (std::size_t l = 0; l < batch_->columns; ++l) {
                if ((found >> l & 1u) != 0)
                    keep(l, i, radius[l], joint[l]);
                else if ((wanted >> l & 1u) != 0)
                    missed_[l][many_missed_[l]++] = static_cast<std::uint32_t>(i);
            }
        }
    }

    void look_along_y(std::size_t l) {
        const Plane& plane = batch_->planes[l];
        const std::size_t many = many_missed_[l];
        many_missed_[l] = 0;
        for (std::size_t first = 0; first < many; first += lanes) {
            const std::uint32_t* const points = missed_[l] + first;
            const std::size_t here = many - first < lanes ? many - first : lanes;
            std::uint32_t places[lanes];
            for (std::size_t j = 0; j < lanes; ++j) places[j] = plane.place_in_y[begin_ + points[j < here ? j : 0]];
            double radius[lanes];
            std::int64_t joint[lanes] = {};
            const unsigned found = nearest_on(WalkAlongY(plane, places), 2 * plane_margin, k_, reach_, (1u << here) - 1,
                                              *scratch_, radius, with_joint_ ? joint : nullptr);
            for (std::size_t j = 0; j < here; ++j) {
                const std::uint32_t i = points[j];  // read before it is written over
                if ((found >> j & 1u) != 0)
                    keep(l, i, radius[j], joint[j]);
                else
                    missed_[l][many_missed_[l]++] = i;
            }
        }
    }

    void search_plane(std::size_t l) {
        for (std::size_t first = 0; first < many_missed_[l]; first += plane_run) {
            const std::uint32_t* const points = missed_[l] + first;
            const std::size_t here = many_missed_[l] - first < plane_run ? many_missed_[l] - first : plane_run;
            std::size_t places[plane_run];
            double radius[plane_run];
            std::uint32_t joint[plane_run] = {};  // none of them has k that are equal
            for (std::size_t j = 0; j < here; ++j) places[j] = begin_ + points[j];
            with_one_smallest(k_, scratch_->room, [&](const auto& none) {
                plane_radii<false>(batch_->planes[l], places, here, none, k_, reach_, *scratch_, radius,
                                   with_joint_ ? joint : nullptr);
            });
            for (std::size_t j = 0; j < here; ++j) keep(l, points[j], radius[j], joint[j]);
        }
    }

    void count_on_axes(std::size_t l) {
        const Plane& plane = batch_->planes[l];
        for (std::size_t i = points_; i % lanes != 0; ++i) radius_[l][i] = 0.0;  // of no point
        others_within(plane.x, plane.x.values + begin_, radius_[l], points_, counts_[l].x);
        others_within(plane.y, plane.x.across + begin_, radius_[l], points_, counts_[l].y);
    }

private:
    void keep(std::size_t l, std::size_t i, double radius, std::int64_t joint) {
        radius_[l][i] = radius;
        if (with_joint_) counts_[l].joint[i] = static_cast<std::uint32_t>(joint);
    }

    const PlaneBatch* batch_;
    std::size_t begin_, points_, k_;
    double reach_;
    PlaneScratch* scratch_;
    const PlaneCounts* counts_;
    bool with_joint_;
    double radius_[lanes][batch_run];
    std::uint32_t missed_[batch_size][batch_run];  // points of each plane
    std::size_t many_missed_[batch_size] = {};
};

inline void plane_batch_within(const PlaneBatch& batch, std::size_t begin, std::size_t end, std::size_t k, double reach,
                               PlaneScratch& scratch, const PlaneCounts* counts) {
    BatchRun run(batch, begin, end, k, reach, scratch, counts);
    run.look_along_x();
    for (std::size_t l = 0; l < batch.columns; ++l) {
        run.look_along_y(l);
        run.search_plane(l);
        run.count_on_axes(l);
    }
}

}  // namespace knnmi::KNNMI_ISA
