#include "crossing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace knnmi {

Axis::Axis(std::span<const double> values, double cap, std::size_t k)
    : rows_(ascending_rows(Points::single_column(values.data(), values.size()))),
      places_(rows_.size()),
      sorted_(values),
      padded_(rows_.size() + 2 * batch_size, std::numeric_limits<double>::infinity()),
      cap_(cap) {
    const std::size_t n = rows_.size();
    const std::span<const double> value = sorted_.values();
    std::fill_n(padded_.begin(), batch_size, -std::numeric_limits<double>::infinity());
    std::copy(value.begin(), value.end(), padded_.begin() + batch_size);
    for (std::size_t place = 0; place < n; ++place) places_[rows_[place]] = static_cast<std::uint32_t>(place);
    // Of two independent columns with an even spread, a point's k-th neighbour is about so many places away.
    const std::size_t farther = 1 + static_cast<std::size_t>(0.5 * std::sqrt(static_cast<double>(k * n)));
    constexpr double least_root = 1e-150;
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && value[end] == value[begin]) ++end;
        const double below = begin > 0 ? value[begin] - value[begin - 1] : cap_;
        // A little more, for values that are as far away but for rounding.
        const double gap = 1.001 * std::min({below, end < n ? value[end] - value[begin] : cap_, cap_});
        for (std::size_t place = begin; place < end; ++place) {
            const double distance = distance_to(place, farther);
            root_.push_back(std::sqrt(std::clamp(distance, least_root, 1 / least_root)));
            per_root_.push_back(static_cast<double>(farther) / root_.back());
            gap_.push_back(end - begin > 1 ? gap : 0.0);
            spacing_.push_back(std::max(distance, gap_.back()));
            first_equal_.push_back(static_cast<std::uint32_t>(begin));
        }
    }
}

// To so many places farther, on the side where that is nearer.
double Axis::distance_to(std::size_t place, std::size_t farther) const {
    const std::span<const double> value = values();
    const std::size_t last = value.size() - 1;
    const double up = value[std::min(place + farther, last)] - value[place];
    const double down = value[place] - value[place - std::min(place, farther)];
    const bool up_only = place < farther && place + farther <= last;
    const bool down_only = place + farther > last && place >= farther;
    return std::min(up_only ? up : down_only ? down : std::min(up, down), cap_);
}

void Crossing::cross(const Axis& x, std::shared_ptr<const Axis> y, std::span<const std::uint32_t> places, bool mixed) {
    y_ = std::move(y);
    const std::size_t points = places.size();
    y_along_x_.resize(points + batch_size);
    x_along_y_.resize(points + batch_size);
    place_in_x_.resize(points);
    place_in_y_.resize(points);
    if (mixed) {
        equal_x_.resize(points);
        equal_y_.resize(points);
    }
    crossed_x_.resize(points + 32, 0xffff);
    crossed_y_.resize(points + 32, 0xffff);
    while (((points - 1) >> shift_) >= 0xffff) ++shift_;
    for (std::size_t p = 0; p < points; ++p) {
        const std::uint32_t in_y = places[x.rows()[p]];
        place_in_y_[p] = in_y;
        place_in_x_[in_y] = static_cast<std::uint32_t>(p);
        crossed_x_[p] = static_cast<std::uint16_t>(in_y >> shift_);
        crossed_y_[in_y] = static_cast<std::uint16_t>(p >> shift_);
        y_along_x_[p] = y_->values()[in_y];
        x_along_y_[in_y] = x.values()[p];
    }
    plane_ = {.points = points,
              .x = x.view(y_along_x_.data(), crossed_x_.data(), mixed ? equal_x_.data() : nullptr),
              .y = y_->view(x_along_y_.data(), crossed_y_.data(), mixed ? equal_y_.data() : nullptr),
              .place_in_x = place_in_x_.data(),
              .place_in_y = place_in_y_.data(),
              .shift = shift_};
    if (mixed) count_equal(x);
}

void Crossing::count_equal(const Axis& x) {
    tally_.assign(plane_.points, 0);  // by the first place of an x
    const auto tally = [&](std::size_t q) -> std::uint32_t& { return tally_[x.first_equal()[place_in_x_[q]]]; };
    for (std::size_t begin = 0, end = 0; begin < plane_.points; begin = end) {
        for (; end < plane_.points && y_->first_equal()[end] == begin; ++end) ++tally(end);
        for (std::size_t q = begin; q < end; ++q) equal_x_[place_in_x_[q]] = equal_y_[q] = tally(q) - 1;
        for (std::size_t q = begin; q < end; ++q) tally(q) = 0;
    }
}

}  // namespace knnmi
