// What the kernels of both engines share: near boxes, the k smallest of a stream, searches in a sorted column.
#pragma once

#include "kernels/kernels.hpp"
#include "simd/simd.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(lanes == batch_size && lanes == group_size && block_size % lanes == 0);

// With another value in the lanes that are not wanted.
inline Doubles only(unsigned wanted, Doubles values, double other) { return blend(wanted, values, broadcast(other)); }

// Calls f with the number of each bit that is set.
template <class Function>
[[gnu::always_inline]] inline void each_bit(unsigned set, const Function& f) {
    for (; set != 0; set &= set - 1) f(static_cast<std::size_t>(__builtin_ctz(set)));
}

// Subtraction rounds monotonically, so the gap between two boxes never exceeds the distance of two points in them.
inline std::size_t boxes_within(const Boxes& boxes, std::size_t dimensions, const unsigned char* categories,
                                std::size_t box_count, const BoxQuery& query, const std::uint32_t* runs,
                                std::size_t run_count, std::uint32_t* out) {
    const Doubles radius = broadcast(query.radius);
    std::size_t found = 0;
    for (std::size_t r = 0; r < run_count; ++r) {
        const std::size_t first = runs[r] * lanes;
        Doubles gap = broadcast(0.0);
        for (std::size_t c = 0; c < dimensions; ++c) {
            const Doubles above = subtract(load(boxes.low + c * boxes.stride + first), broadcast(query.high[c]));
            const Doubles below = subtract(broadcast(query.low[c]), load(boxes.high + c * boxes.stride + first));
            const Doubles along = max(above, below);
            gap = max(gap, categories[c] != 0 ? min(along, broadcast(1.0)) : along);
        }
        const unsigned near = bits(less_equal(gap, radius));
        compress(out + found, positions_from(static_cast<std::uint32_t>(first)), near);
        found += count(near);
    }
    while (found > 0 && out[found - 1] >= box_count)
        --found;  // an infinite radius reaches the places past the last box, and one of 1 where all are categories
    return found;
}

// The k smallest values seen in each lane, ascending: the first, then the others. An array of them GCC keeps in memory.
template <std::size_t K>
class LaneSmallest {
public:
    // How many values are best inserted together. Four need more registers, but fewer steps wait for one before.
    static constexpr std::size_t at_once = K != 3 ? 1 : registers >= 16 ? 4 : 2;

    void insert(Doubles value) {
        const Doubles larger = max(first_, value);
        first_ = min(first_, value);
        others_.insert(larger);
    }

    // With k = 3 in fewer steps: what the larger of two values drives out of the second place is fourth at best, behind
    // the first, the smaller one and the new second.
    void insert(Doubles a, Doubles b) {
        if constexpr (K == 3) {
            others_.lower_first(max(a, b));
            insert(min(a, b));
        } else {
            insert(a);
            insert(b);
        }
    }

    // For k = 3: the three smallest of four, in order, likewise.
    void insert(Doubles a, Doubles b, Doubles c, Doubles d) {
        static_assert(K == 3);
        const Doubles low = min(a, b), high = max(a, b), other_low = min(c, d), other_high = max(c, d);
        const Doubles larger_low = max(low, other_low), smaller_high = min(high, other_high);
        others_.lower_first(min(larger_low, smaller_high));
        others_.lower_second(max(larger_low, smaller_high));
        insert(min(low, other_low));
    }

    void lower_first(Doubles value) { first_ = min(first_, value); }
    void lower_second(Doubles value) { others_.lower_first(value); }

    Doubles bound() const { return largest(); }
    Doubles largest() const {
        if constexpr (K == 1)
            return first_;
        else
            return others_.largest();
    }

    // The k-th smallest of all lanes together.
    double largest_over_lanes() const {
        Doubles kept[K];
        copy_to(kept);
        merge<4>(kept);
        merge<2>(kept);
        merge<1>(kept);
        return first_lane(kept[K - 1]);
    }

    void copy_to(Doubles* out) const {
        out[0] = first_;
        others_.copy_to(out + 1);
    }

private:
    template <int Step>
    static void merge(Doubles* kept) {
        Doubles other[K];
        for (std::size_t j = 0; j < K; ++j) other[j] = exchange<Step>(kept[j]);
        for (Doubles value : other) {
            for (std::size_t j = 0; j < K; ++j) {
                const Doubles larger = max(kept[j], value);
                kept[j] = min(kept[j], value);
                value = larger;
            }
        }
    }

    Doubles first_ = broadcast(__builtin_inf());
    LaneSmallest<K - 1> others_;
};

template <>
class LaneSmallest<0> {
public:
    void insert(Doubles) {}
    void copy_to(Doubles*) const {}
};

// The k-th smallest of `count` values, which are rearranged: it is then at index k - 1, with none larger before it.
// Quickselect by Hoare, with Singleton's choice of the pivot.
inline double select(double* values, std::size_t count, std::size_t k) {
    const auto exchange_if_less = [&](std::size_t a, std::size_t b) {
        if (!(values[a] < values[b])) return;
        const double kept = values[a];
        values[a] = values[b];
        values[b] = kept;
    };
    std::size_t first = 0, last = count - 1;
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        exchange_if_less(middle, first);
        exchange_if_less(last, first);
        exchange_if_less(last, middle);
        const double pivot = values[middle];
        std::size_t low = first, high = last;
        for (;;) {
            while (values[low] < pivot) ++low;
            while (pivot < values[high]) --high;
            if (low >= high) break;
            const double kept = values[low];
            values[low++] = values[high];
            values[high--] = kept;
        }
        // What is before `low` is at most the pivot, and what is after `high` at least that.
        if (k - 1 <= high)
            last = high;
        else
            first = high + 1;
    }
    return values[k - 1];
}

// The same for a k that is known at run time, in memory of the caller's: 8 * k values.
class OrderedLaneSmallest {
public:
    static constexpr std::size_t at_once = 1;

    OrderedLaneSmallest(std::size_t k, double* room) : last_((k - 1) * lanes), kept_(room) {
        for (std::size_t i = 0; i <= last_; i += lanes) store(kept_ + i, broadcast(__builtin_inf()));
    }

    void insert(Doubles value) {
        std::size_t i = last_;
        Doubles here = load(kept_ + i);
        if (!any(less(value, here))) return;
        for (; i > 0; i -= lanes) {
            const Doubles below = load(kept_ + i - lanes);
            store(kept_ + i, max(below, min(here, value)));
            here = below;
            if (i % (4 * lanes) == 0 && !any(less(value, here))) return;  // it is in its place in all lanes
        }
        store(kept_, min(here, value));
    }

    Doubles bound() const { return load(kept_ + last_); }
    Doubles largest() const { return bound(); }

private:
    std::size_t last_;
    double* kept_;
};

// The same for any k: 16 * k values. A lane collects what may belong to its k smallest, and selects these whenever it
// has 2 * k; so a value costs the same whatever k is.
class ManyLaneSmallest {
public:
    static constexpr std::size_t at_once = 1;

    ManyLaneSmallest(std::size_t k, double* room) : k_(k), kept_(room) {
        for (std::size_t l = 0; l < lanes; ++l) bound_[l] = __builtin_inf();
    }

    void insert(Doubles value) {
        const unsigned smaller = bits(less(value, load(bound_)));
        if (smaller == 0) return;
        double values[lanes];
        store(values, value);
        for (std::size_t l = 0; l < lanes; ++l) {
            if ((smaller >> l & 1u) == 0) continue;
            kept(l)[sizes_[l]++] = values[l];
            if (sizes_[l] == 2 * k_) select_in(l);
        }
    }

    // Not below the k-th smallest.
    Doubles bound() const { return load(bound_); }

    Doubles largest() {
        for (std::size_t l = 0; l < lanes; ++l)
            if (sizes_[l] >= k_) select_in(l);
        return bound();
    }

private:
    double* kept(std::size_t lane) { return kept_ + lane * 2 * k_; }

    void select_in(std::size_t lane) {
        bound_[lane] = select(kept(lane), sizes_[lane], k_);
        sizes_[lane] = k_;
    }

    std::size_t k_;
    double* kept_;
    double bound_[lanes];
    std::size_t sizes_[lanes] = {};
};

// The k smallest of all lanes together, for any k, in memory of the caller's: 2 * k + 8 values.
class ManySmallestOfAll {
public:
    ManySmallestOfAll(std::size_t k, double* room) : k_(k), kept_(room) {}

    void insert(Doubles value) {
        const unsigned smaller = bits(less(value, bound_));
        compress(kept_ + size_, value, smaller);
        size_ += count(smaller);
        if (size_ < 2 * k_) return;
        bound_ = broadcast(select(kept_, size_, k_));
        size_ = k_;
    }

    double largest_over_lanes() { return size_ < k_ ? __builtin_inf() : select(kept_, size_, k_); }

private:
    std::size_t k_, size_ = 0;
    double* kept_;
    Doubles bound_ = broadcast(__builtin_inf());
};

#ifdef __SANITIZE_ADDRESS__
inline constexpr std::size_t largest_unrolled = 4;  // with checks in each, more would take many minutes to compile
#else
inline constexpr std::size_t largest_unrolled = 17;  // k = 16 and the point itself
#endif
inline constexpr std::size_t largest_in_order = 80;  // from about there on selecting is faster

// Calls f with an empty collection of the k smallest in each lane.
template <std::size_t K = 1, class Function>
inline auto with_smallest(std::size_t k, double* room, const Function& f) {
    if constexpr (K > largest_unrolled) {
        return k <= largest_in_order ? f(OrderedLaneSmallest(k, room)) : f(ManyLaneSmallest(k, room));
    } else {
        if (k == K) return f(LaneSmallest<K>());
        return with_smallest<K + 1>(k, room, f);
    }
}

// The same for a k of most_in_registers at most.
template <std::size_t K = 1, class Function>
inline auto with_few_smallest(std::size_t k, const Function& f) {
    if constexpr (K < most_in_registers)
        if (k > K) return with_few_smallest<K + 1>(k, f);
    return f(LaneSmallest<K>());
}

// The same of all lanes together.
template <std::size_t K = 1, class Function>
inline auto with_smallest_of_all(std::size_t k, double* room, const Function& f) {
    if constexpr (K > largest_unrolled) {
        return f(ManySmallestOfAll(k, room));
    } else {
        if (k == K) return f(LaneSmallest<K>());
        return with_smallest_of_all<K + 1>(k, room, f);
    }
}

// The number of leading different values for which `before` holds; it must not hold for any value after one for which
// it does not.
template <class Predicate>
[[gnu::noinline]] inline std::size_t different_before(const SortedLevels& sorted, Predicate before) {
    std::size_t position = 0;
    for (std::size_t level = sorted.levels; level-- > 0;)
        position = position * lanes + count(bits(before(load(sorted.level[level] + position * lanes))));
    return position;
}

// The same, for a predicate that changes near a cell: mostly within eight values, from the one before it on. If not, a
// search.
template <class Predicate>
[[gnu::always_inline]] inline std::size_t different_before(const SortedLevels& sorted, std::size_t cell,
                                                           const Predicate& before) {
    const std::size_t first = sorted.before_cell[cell];
    const unsigned leading = bits(before(load(sorted.level[0] + first - 1)));
    return (leading & 0x81u) == 0x01u ? first + count(leading) - 1 : different_before(sorted, before);
}

// The number of leading values.
template <class Predicate>
[[gnu::always_inline]] inline std::size_t partition_point(const SortedLevels& sorted, std::size_t cell,
                                                          const Predicate& before) {
    const std::size_t different = different_before(sorted, cell, before);
    return sorted.first == nullptr ? different : sorted.first[different];
}

struct Range {
    std::size_t begin, end;
};

// What is sorted before the places within a radius of a center, and before those beyond them. Rounded differences are
// monotone too.
struct FarBelow {
    double center, radius;
    [[gnu::always_inline]] Mask operator()(Doubles v) const {
        return less(broadcast(radius), subtract(broadcast(center), v));
    }
};
struct NotFarAbove {
    double center, radius;
    [[gnu::always_inline]] Mask operator()(Doubles v) const {
        return less_equal(subtract(v, broadcast(center)), broadcast(radius));
    }
};

// The places within the radius of `center`, which are searched from these cells on.
[[gnu::always_inline]] inline Range sorted_within(const SortedLevels& sorted, double center, double radius,
                                                  std::size_t low, std::size_t high) {
    return {partition_point(sorted, low, FarBelow{center, radius}),
            partition_point(sorted, high, NotFarAbove{center, radius})};
}

inline Range sorted_within(const SortedLevels& sorted, double center, double radius) {
    return sorted_within(sorted, center, radius, sorted.cells.of(center - radius), sorted.cells.of(center + radius));
}

// One number for all eight lanes, or one for each.
inline Doubles each(double value) { return broadcast(value); }
inline Doubles each(const double* values) { return load(values); }
inline Positions each(std::uint32_t value) { return broadcast_position(value); }
inline Positions each(const std::uint32_t* values) { return load_positions(values); }
inline double at(double value, std::size_t) { return value; }
inline double at(const double* values, std::size_t lane) { return values[lane]; }

// The cells of eight values, in one column or in one each.
template <class AnyCells>
[[gnu::always_inline]] inline void cells_of(const AnyCells& cells, Doubles values, std::uint32_t* out) {
    const Doubles any = multiply(subtract(values, each(cells.middle)), each(cells.per_unit));
    const Doubles units = max(min(any, each(cells.last)), each(cells.first));
    store(out, octave_steps(units, each(cells.shift), each(cells.before)));
}

// Of eight columns with these cells, or of one, the places within eight radii of as many centers, or of one.
template <class AnyCells, class Column, class Centers>
[[gnu::always_inline]] inline void each_within(const AnyCells& cells, const Column& column, const Centers& centers,
                                               const double* radius, Range* out) {
    std::uint32_t low[lanes], high[lanes];
    cells_of(cells, subtract(each(centers), load(radius)), low);
    cells_of(cells, add(each(centers), load(radius)), high);
    for (std::size_t l = 0; l < lanes; ++l)
        out[l] = sorted_within(column(l), at(centers, l), radius[l], low[l], high[l]);
}

// Of a category everything is within a radius of 1.
inline double capped_radius(double radius, double cap) { return radius < cap ? radius : __builtin_inf(); }

// Eight such radii, with one cap or with eight, or null for none: those given, or others written to `room`.
inline const double* capped_radii(const double* radius, double cap, double* room) {
    if (cap == __builtin_inf()) return radius;
    for (std::size_t l = 0; l < lanes; ++l) room[l] = capped_radius(radius[l], cap);
    return room;
}
inline const double* capped_radii(const double* radius, const double* caps, double* room) {
    if (caps == nullptr) return radius;
    for (std::size_t l = 0; l < lanes; ++l) room[l] = capped_radius(radius[l], caps[l]);
    return room;
}

}  // namespace knnmi::KNNMI_ISA
