// x and a y as the axes of a plane, in the form in which points are looked for there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "sorted_column.hpp"

namespace knnmi {

// The values of a column as one axis of a plane.
class Axis {
public:
    Axis(std::span<const double> values, double cap, std::size_t k);

    const std::vector<std::uint32_t>& rows() const { return rows_; }                // by place
    const std::vector<std::uint32_t>& places() const { return places_; }            // by row
    std::span<const double> values() const { return sorted_.values(); }             // by place
    const std::vector<std::uint32_t>& first_equal() const { return first_equal_; }  // by place: the first of its value
    std::span<const double> spacing() const { return spacing_; }  // by place: of its neighbours, to compare with others
    bool is_category() const { return cap_ == cap_of(true); }

    PlaneAxis view(const double* across, const std::uint16_t* crossed, const std::uint32_t* equal) const {
        return {.sorted = &sorted_.view(),
                .values = padded_.data() + batch_size,
                .across = across,
                .crossed = crossed,
                .root = root_.data(),
                .per_root = per_root_.data(),
                .gap = gap_.data(),
                .equal = equal,
                .cap = cap_};
    }

private:
    double distance_to(std::size_t place, std::size_t farther) const;

    std::vector<std::uint32_t> rows_, places_, first_equal_;
    SortedColumn sorted_;
    std::vector<double> padded_;  // the sorted values with margins
    std::vector<double> root_, per_root_, gap_, spacing_;
    double cap_;
};

// One y beside x; the memory is taken with the first one and kept for the next.
class Crossing {
public:
    // `places[row]` is the place of a row on the axis of y. For the mixed estimator equal points are counted.
    void cross(const Axis& x, std::shared_ptr<const Axis> y, std::span<const std::uint32_t> places, bool mixed);

    const Plane& plane() const { return plane_; }

private:
    // For each place on the axis of x, and on that of y, how many others are equal in both.
    void count_equal(const Axis& x);

    std::shared_ptr<const Axis> y_;
    std::vector<double> y_along_x_, x_along_y_;
    std::vector<std::uint32_t> place_in_y_, place_in_x_, tally_, equal_x_, equal_y_;
    std::vector<std::uint16_t> crossed_x_, crossed_y_;
    std::size_t shift_ = 0;
    Plane plane_{};
};

}  // namespace knnmi
