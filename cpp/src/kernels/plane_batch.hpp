// Planes with an axis in common, for eight of them in the lanes of a register. A point looks for its neighbours along
// that axis, on both sides from the nearest on. What is not found soon is searched in its plane.
#pragma once

#include "kernels/plane.hpp"

namespace knnmi::KNNMI_ISA {

// Neighbours of one point along the axis, outward on both sides.
class WalkAlong {
public:
    WalkAlong(const PlaneBatch& batch, const PlaneAxis& axis, std::size_t place)
        : left_(axis.values + place),
          right_(left_ + 1),
          across_left_(batch.across + place * lanes),
          across_right_(across_left_ + lanes),
          along_(broadcast(*left_)),
          across_(load(across_left_)) {}

    // Visits the distances of others in all planes, two at a time, as long as `open` gives lanes that need those from a
    // distance on, or until so many were looked at. Returns these lanes.
    template <class Open, class Visit>
    [[gnu::always_inline]] unsigned walk(std::size_t most, const Open& open, const Visit& visit) {
        for (;;) {
            const unsigned down = open(below(left_ - 1)), up = open(above(right_));
            if ((down | up) == 0 || static_cast<std::size_t>(right_ - left_) > most) return down | up;
            if (down != 0)
                for (std::size_t i = 0; i < batch_step; i += 2, left_ -= 2, across_left_ -= 2 * lanes)
                    visit(apart(below(left_ - 1), across_left_ - lanes),
                          apart(below(left_ - 2), across_left_ - 2 * lanes));
            if (up != 0)
                for (std::size_t i = 0; i < batch_step; i += 2, right_ += 2, across_right_ += 2 * lanes)
                    visit(apart(above(right_), across_right_), apart(above(right_ + 1), across_right_ + lanes));
        }
    }

private:
    Doubles below(const double* value) const { return subtract(along_, broadcast(*value)); }
    Doubles above(const double* value) const { return subtract(broadcast(*value), along_); }
    Doubles apart(Doubles along, const double* across) const { return larger(along, subtract(load(across), across_)); }

    const double *left_, *right_, *across_left_, *across_right_;
    Doubles along_, across_;
};

// Returns the lanes, of those wanted, whose k-th distances a walk found and, at `reach` times them, the joint counts if
// there are to be any.
template <bool WithJoint, class Nearest>
[[gnu::flatten, gnu::noinline]] unsigned nearest_on(const WalkAlong& start, std::size_t most, const Nearest& none,
                                                    double reach, unsigned wanted, double* kept, double* radius,
                                                    std::int64_t* joint) {
    WalkAlong walk = start;
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

inline unsigned nearest_on(const WalkAlong& walk, std::size_t most, std::size_t k, double reach, unsigned wanted,
                           const PlaneScratch& scratch, double* radius, std::int64_t* joint) {
    return with_few_smallest(k, [&](const auto& none) {
        return joint != nullptr ? nearest_on<true>(walk, most, none, reach, wanted, scratch.distances, radius, joint)
                                : nearest_on<false>(walk, most, none, reach, wanted, scratch.distances, radius, joint);
    });
}

// Whether so many others on one side have the same value.
inline bool is_crowded(const Plane& plane, const PlaneAxis& axis, std::size_t place, std::size_t many) {
    const double* const value = axis.values + place;
    return (place + many < plane.points && value[many] == *value) || (place >= many && *(value - many) == *value);
}

// The points at a run of places that look along the axis: what is known of them so far.
class BatchRun {
public:
    BatchRun(const PlaneBatch& batch, std::size_t begin, std::size_t k, double reach, PlaneScratch& scratch,
             const PlaneCounts* counts)
        : batch_(&batch),
          axis_(&(batch.planes->*batch.along)),
          by_x_(batch.along == &Plane::x),
          begin_(begin),
          k_(k),
          reach_(reach),
          scratch_(&scratch),
          counts_(counts),
          with_joint_(axis_->equal != nullptr) {}

    void look_along(std::size_t place) {
        const unsigned looking = batch_->looking[place];
        if (looking == 0) return;
        double radius[lanes] = {};
        std::int64_t joint[lanes] = {};
        const unsigned equal = looking & lanes_with_k_equal(place), wanted = looking & ~equal;
        unsigned found = 0;
        if (wanted != 0 && !is_crowded(*batch_->planes, *axis_, place, batch_->most / 2))
            found = nearest_on(WalkAlong(*batch_, *axis_, place), batch_->most, k_, reach_, wanted, *scratch_, radius,
                               with_joint_ ? joint : nullptr);
        each_bit(equal, [&](std::size_t l) {
            radius[l] = 0.0;
            joint[l] = equal_at(l, place);
        });
        for (std::size_t l = 0; l < batch_->columns; ++l)
            keep_if((found | equal) >> l & 1u, l, place, radius[l], joint[l]);
        each_bit(wanted & ~found,
                 [&](std::size_t l) { missed_[l][many_missed_[l]++] = static_cast<std::uint8_t>(place - begin_); });
    }

    void search_plane(std::size_t l) {
        const Plane& plane = batch_->planes[l];
        for (std::size_t first = 0; first < many_missed_[l]; first += plane_run) {
            const std::uint8_t* const missed = missed_[l] + first;
            const std::size_t here = many_missed_[l] - first < plane_run ? many_missed_[l] - first : plane_run;
            std::size_t places[plane_run];
            double radius[plane_run];
            std::uint32_t joint[plane_run] = {};
            for (std::size_t j = 0; j < here; ++j)
                places[j] = by_x_ ? begin_ + missed[j] : plane.place_in_x[begin_ + missed[j]];
            with_one_smallest(k_, scratch_->room, [&](const auto& none) {
                plane_radii<false>(plane, places, here, none, k_, reach_, *scratch_, radius,
                                   with_joint_ ? joint : nullptr);
            });
            for (std::size_t j = 0; j < here; ++j) keep_if(1, l, begin_ + missed[j], radius[j], joint[j]);
        }
    }

    // Returns how many points there are.
    std::size_t count_on_axes(std::size_t l) {
        const Plane& plane = batch_->planes[l];
        for (std::size_t i = many_[l]; i % lanes != 0; ++i) along_[l][i] = across_[l][i] = radius_[l][i] = 0.0;
        others_within(*axis_, along_[l], radius_[l], many_[l], by_x_ ? counts_[l].x : counts_[l].y);
        others_within(by_x_ ? plane.y : plane.x, across_[l], radius_[l], many_[l], by_x_ ? counts_[l].y : counts_[l].x);
        return many_[l];
    }

private:
    static constexpr std::size_t room = batch_run + 1;

    unsigned lanes_with_k_equal(std::size_t place) const {
        unsigned set = 0;
        for (std::size_t l = 0; with_joint_ && l < batch_->columns; ++l)
            set |= static_cast<unsigned>(equal_at(l, place) >= k_) << l;
        return set;
    }

    std::uint32_t equal_at(std::size_t l, std::size_t place) const {
        return (batch_->planes[l].*batch_->along).equal[place];
    }

    // If 1; written anyway, since a branch would often be mispredicted.
    void keep_if(unsigned found, std::size_t l, std::size_t place, double radius, std::int64_t joint) {
        const std::size_t i = many_[l];
        along_[l][i] = axis_->values[place];
        across_[l][i] = batch_->across[place * lanes + l];
        radius_[l][i] = radius;
        if (with_joint_) counts_[l].joint[i] = static_cast<std::uint32_t>(joint);
        many_[l] += found;
    }

    const PlaneBatch* batch_;
    const PlaneAxis* axis_;
    bool by_x_;
    std::size_t begin_, k_;
    double reach_;
    PlaneScratch* scratch_;
    const PlaneCounts* counts_;
    bool with_joint_;
    double along_[batch_size][room], across_[batch_size][room], radius_[batch_size][room];
    std::size_t many_[batch_size] = {};
    std::uint8_t missed_[batch_size][batch_run];  // places from the first one on
    std::size_t many_missed_[batch_size] = {};
};

inline void plane_batch_within(const PlaneBatch& batch, std::size_t begin, std::size_t end, std::size_t k, double reach,
                               PlaneScratch& scratch, const PlaneCounts* counts, std::size_t* many) {
    BatchRun run(batch, begin, k, reach, scratch, counts);
    for (std::size_t place = begin; place < end; ++place) run.look_along(place);
    for (std::size_t l = 0; l < batch.columns; ++l) {
        run.search_plane(l);
        many[l] = run.count_on_axes(l);
    }
}

}  // namespace knnmi::KNNMI_ISA
