// What the kernels of both engines share: near boxes, the k smallest of a stream, searches in a sorted column.
#pragma once

#include "kernels/kernels.hpp"
#include "simd/simd.hpp"

namespace knnmi::KNNMI_ISA {

static_assert(lanes == batch_size && lanes == group_size && block_size % lanes == 0);

// With another value in the lanes that are not wanted.
inline Doubles only(unsigned wanted, Doubles values, double other) {
    if (wanted == all_columns) return values;
    double each[lanes];
    store(each, values);
    for (std::size_t l = 0; l < lanes; ++l)
        if ((wanted >> l & 1u) == 0) each[l] = other;
    return load(each);
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
    void insert(Doubles value) {
        const Doubles larger = max(first_, value);
        first_ = min(first_, value);
        others_.insert(larger);
    }

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

inline constexpr std::size_t largest_unrolled = 17;  // k = 16 and the point itself
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
inline std::size_t different_before(const SortedLevels& sorted, const Predicate& before) {
    std::size_t position = 0;
    for (std::size_t level = sorted.levels; level-- > 0;)
        position = position * lanes + count(bits(before(load(sorted.level[level] + position * lanes))));
    return position;
}

// The same, for a predicate that changes near `hint`: mostly within eight values from its cell on. If not, a search.
template <class Predicate>
inline std::size_t different_before(const SortedLevels& sorted, double hint, const Predicate& before) {
    if (sorted.before_cell == nullptr) return different_before(sorted, before);
    const std::size_t first = sorted.before_cell[sorted.cells.of(hint)];
    const unsigned leading = bits(before(load(sorted.level[0] + first)));
    const bool found = leading != 0xff && ((leading & 1u) != 0 || first == 0);
    return found ? first + count(leading) : different_before(sorted, before);
}

// The number of leading values.
template <class Predicate>
inline std::size_t partition_point(const SortedLevels& sorted, double hint, const Predicate& before) {
    const std::size_t different = different_before(sorted, hint, before);
    return sorted.first == nullptr ? different : sorted.first[different];
}

struct Range {
    std::size_t begin, end;
};

// The places in the sorted column that are within the radius of `center`. Rounded differences are monotone too.
inline Range sorted_within(const SortedLevels& sorted, double center, double radius) {
    const Doubles middle = broadcast(center), reach = broadcast(radius);
    return {
        partition_point(sorted, center - radius, [=](Doubles v) { return less(reach, subtract(middle, v)); }),
        partition_point(sorted, center + radius, [=](Doubles v) { return less_equal(subtract(v, middle), reach); })};
}

}  // namespace knnmi::KNNMI_ISA
