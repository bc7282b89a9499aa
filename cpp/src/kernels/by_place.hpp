// Eight columns that hold the same values in other rows: what is near the points that have one of these values, from
// the nearest value on.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

inline constexpr std::size_t place_step = 4;  // places on one side that are looked at in a row
static_assert(2 * place_step <= place_margin);

// Distances from the points at one place. With the number of other columns known beforehand, none of them a category;
// or with any number, 0.
template <std::size_t Dimensions>
class PlaceDistance {
public:
    PlaceDistance(const PlacedColumns& columns, std::size_t place)
        : columns_(columns), own_(columns.others + place * width()), y_(columns.y[place]) {}

    // In y and the others before the last one, and in all.
    [[gnu::always_inline]] Doubles but_last(std::ptrdiff_t place) const {
        return with(place, 0, dimensions() - 1, in_y(place));
    }
    [[gnu::always_inline]] Doubles last_too(std::ptrdiff_t place, Doubles least) const {
        return with(place, dimensions() - 1, dimensions(), least);
    }
    [[gnu::always_inline]] Doubles operator()(std::ptrdiff_t place) const {
        return with(place, 0, dimensions(), in_y(place));
    }

private:
    std::size_t dimensions() const { return Dimensions != 0 ? Dimensions : columns_.dimensions; }
    std::size_t width() const { return dimensions() * lanes; }
    [[gnu::always_inline]] Doubles in_y(std::ptrdiff_t place) const {
        return absolute(broadcast(columns_.y[place] - y_));
    }

    // In the columns from one to before another, or `least` where that is more.
    [[gnu::always_inline]] Doubles with(std::ptrdiff_t place, std::size_t begin, std::size_t end, Doubles least) const {
        const double* const there = columns_.others + place * static_cast<std::ptrdiff_t>(width());
        for (std::size_t c = begin; c < end; ++c) {
            const Doubles difference = subtract(load(there + c * lanes), load(own_ + c * lanes));
            if (Dimensions != 0 || columns_.caps == nullptr)
                least = larger(least, difference);
            else
                least = max(least, min(absolute(difference), broadcast(columns_.caps[c])));
        }
        return least;
    }

    const PlacedColumns& columns_;
    const double* own_;
    double y_;
};

// Calls f with the distances.
template <class Function>
[[gnu::always_inline]] inline auto with_place_distance(const PlacedColumns& columns, std::size_t place,
                                                       const Function& f) {
    if (columns.dimensions == 2 && columns.caps == nullptr) return f(PlaceDistance<2>(columns, place));
    return f(PlaceDistance<0>(columns, place));
}

// Places outward from one of them, on the side where the next one is nearer in y. Those beyond the last one are
// infinitely far away.
class PlacesOutward {
public:
    [[gnu::always_inline]] PlacesOutward(const double* values, std::size_t place)
        : values_(values), value_(values[place]), below_(values + place), above_(below_ + 1) {}

    // How far the next place is away.
    [[gnu::always_inline]] double next() {
        const double down = value_ - below_[-1], up = *above_ - value_;
        lower_ = down < up;
        return lower_ ? down : up;
    }

    // Goes on by place_step places from there; returns the first of these in order.
    [[gnu::always_inline]] std::ptrdiff_t take() {
        if (lower_) return (below_ -= place_step) - values_;
        return (above_ += place_step) - place_step - values_;
    }

private:
    const double* values_;
    double value_;
    const double *below_, *above_;
    bool lower_ = false;
};

// Flat, since a call for each insertion would keep what is nearest in memory.
template <class Nearest, class Distance>
[[gnu::flatten]] inline unsigned nearest_by_place_with(const PlacedColumns& columns, std::size_t place,
                                                       std::size_t most, Nearest& nearest, const Distance& distance) {
    PlacesOutward places(columns.y, place);
    for (std::size_t looked = 0;; looked += place_step) {
        const unsigned open = bits(less(broadcast(places.next()), nearest.bound()));
        if (open == 0 || looked > most) return open;
        const std::ptrdiff_t first = places.take();
        const auto at = [&](std::ptrdiff_t i) { return distance(first + i); };
        if constexpr (Nearest::at_once == 4) {
            nearest.insert(at(0), at(1), at(2), at(3));
        } else if constexpr (Nearest::at_once == 2) {
            nearest.insert(at(0), at(1));
            nearest.insert(at(2), at(3));
        } else {
            for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{place_step}; ++i) nearest.insert(at(i));
        }
    }
}

inline unsigned nearest_by_place(const PlacedColumns& columns, std::size_t place, std::size_t most, std::size_t k,
                                 double* room, double* rho) {
    return with_place_distance(columns, place, [&](const auto& distance) {
        return with_smallest(k, room, [&](auto nearest) {
            const unsigned open = nearest_by_place_with(columns, place, most, nearest, distance);
            store(rho, nearest.largest());
            return open;
        });
    });
}

inline void within_by_place(const PlacedColumns& columns, std::size_t place, const double* radius,
                            std::int64_t* but_last, std::int64_t* all) {
    const Doubles reach = load(radius);
    Integers in_but_last = zeros(), in_all = zeros();
    with_place_distance(columns, place, [&](const auto& distance) {
        PlacesOutward places(columns.y, place);
        while (any(less_equal(broadcast(places.next()), reach))) {
            const std::ptrdiff_t first = places.take();
            for (std::ptrdiff_t i = first; i < first + std::ptrdiff_t{place_step}; ++i) {
                const Doubles most = distance.but_last(i);
                in_but_last = count_up(in_but_last, less_equal(most, reach));
                in_all = count_up(in_all, less_equal(distance.last_too(i, most), reach));
            }
        }
    });
    store(but_last, in_but_last);
    store(all, in_all);
}

}  // namespace knnmi::KNNMI_ISA
