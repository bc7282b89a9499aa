// What the kernels of both engines share: near boxes, the k smallest of a stream, searches in a sorted column.
#pragma once

#include "kernels/kernels.hpp"
#include "simd/simd.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(lanes == batch_size && lanes == group_size && block_size % lanes == 0);

// Subtraction rounds monotonically, so the gap between two boxes never exceeds the distance of two points in them.
inline std::size_t boxes_within(const Boxes& boxes, std::size_t dimensions, std::size_t box_count,
                                const BoxQuery& query, const std::uint32_t* runs, std::size_t run_count,
                                std::uint32_t* out) {
    const Doubles radius = broadcast(query.radius);
    std::size_t found = 0;
    for (std::size_t r = 0; r < run_count; ++r) {
        const std::size_t first = runs[r] * lanes;
        Doubles gap = broadcast(0.0);
        for (std::size_t c = 0; c < dimensions; ++c) {
            const Doubles above = subtract(load(boxes.low + c * boxes.stride + first), broadcast(query.high[c]));
            const Doubles below = subtract(broadcast(query.low[c]), load(boxes.high + c * boxes.stride + first));
            gap = max(gap, max(above, below));
        }
        const unsigned near = bits(less_equal(gap, radius));
        compress(out + found, positions_from(static_cast<std::uint32_t>(first)), near);
        found += count(near);
    }
    while (found > 0 && out[found - 1] >= box_count)
        --found;  // an infinite radius reaches the places past the last box
    return found;
}

// The k smallest values seen in each lane, ascending.
template <std::size_t K>
class LaneSmallest {
public:
    LaneSmallest() {
        for (Doubles& value : kept_) value = broadcast(__builtin_inf());
    }

    void insert(Doubles value) {
        for (std::size_t j = 0; j + 1 < K; ++j) {
            const Doubles smaller = min(kept_[j], value);
            value = max(kept_[j], value);
            kept_[j] = smaller;
        }
        kept_[K - 1] = min(kept_[K - 1], value);
    }

    Doubles largest() const { return kept_[K - 1]; }

    // The k-th smallest of all lanes together.
    double largest_over_lanes() {
        merge<4>();
        merge<2>();
        merge<1>();
        return first_lane(largest());
    }

private:
    template <int Step>
    void merge() {
        Doubles other[K];
        for (std::size_t j = 0; j < K; ++j) other[j] = exchange<Step>(kept_[j]);
        for (const Doubles& value : other) insert(value);
    }

    Doubles kept_[K];
};

// The same for any k, in memory of the caller's: 8 * k values.
class ManyLaneSmallest {
public:
    ManyLaneSmallest(std::size_t k, double* room) : k_(k), kept_(room) {
        for (std::size_t j = 0; j < k; ++j) store(kept_ + j * lanes, broadcast(__builtin_inf()));
    }

    void insert(Doubles value) {
        if (!any(less(value, largest()))) return;
        for (std::size_t j = 0; j < k_; ++j) {
            const Doubles kept = load(kept_ + j * lanes);
            store(kept_ + j * lanes, min(kept, value));
            value = max(kept, value);
        }
    }

    Doubles largest() const { return load(kept_ + (k_ - 1) * lanes); }

    double largest_over_lanes() const {
        std::size_t taken[lanes] = {};
        double smallest = 0.0;
        for (std::size_t j = 0; j < k_; ++j) {
            std::size_t from = 0;
            for (std::size_t l = 1; l < lanes; ++l)
                if (next(l, taken[l]) < next(from, taken[from])) from = l;
            smallest = next(from, taken[from]++);
        }
        return smallest;
    }

private:
    double next(std::size_t lane, std::size_t j) const { return j < k_ ? kept_[j * lanes + lane] : __builtin_inf(); }

    std::size_t k_;
    double* kept_;
};

inline constexpr std::size_t largest_unrolled = 17;  // k = 16 and the point itself

// Calls f with an empty collection of the k smallest.
template <std::size_t K = 1, class Function>
inline auto with_smallest(std::size_t k, double* room, const Function& f) {
    if constexpr (K > largest_unrolled) {
        return f(ManyLaneSmallest(k, room));
    } else {
        if (k == K) return f(LaneSmallest<K>());
        return with_smallest<K + 1>(k, room, f);
    }
}

// The number of leading values for which `before` holds; it must not hold for any value after one for which it does
// not.
template <class Predicate>
inline std::size_t partition_point(const SortedLevels& sorted, const Predicate& before) {
    std::size_t position = 0;
    for (std::size_t level = sorted.levels; level-- > 0;)
        position = position * lanes + count(bits(before(load(sorted.level[level] + position * lanes))));
    return position;
}

struct Range {
    std::size_t begin, end;
};

// The places in the sorted column that are within the radius of `center`. Rounded differences are monotone too.
inline Range sorted_within(const SortedLevels& sorted, double center, double radius) {
    const Doubles middle = broadcast(center), reach = broadcast(radius);
    return {partition_point(sorted, [=](Doubles v) { return less(reach, subtract(middle, v)); }),
            partition_point(sorted, [=](Doubles v) { return less_equal(subtract(v, middle), reach); })};
}

}  // namespace knnmi::KNNMI_ISA
