#include "far_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "parallel.hpp"

namespace knnmi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t often_enough = 64;  // values between two looks at the clock: with many neighbours, milliseconds

}  // namespace

// One end of the values, beside the columns of a batch: the outermost value is number 0.
class FarValues::End {
public:
    End(const FarValues& far, Side side, std::size_t batch)
        : far_(&far),
          side_(side),
          batch_(batch),
          others_(far.columns_.size() * place_margin * batch_size),
          room_(far.fixed_->k() * 2 * batch_size) {
        const std::size_t likely = std::min(far.points_, far.searched_[side] + far.most_) + 128;
        positions_.reserve(likely * batch_size);
        others_.reserve(likely * far.columns_.size() * batch_size);
    }

    // The distances to the k-th neighbours of the points that have a value. They are finite and right beside the
    // columns that are returned, as bits.
    unsigned search(std::size_t number, double* rho) {
        fill(std::min(far_->points_, number + far_->most_ + 2 * place_margin));
        unsigned found = ~kernels().nearest_by_place(view(), number, far_->most_, far_->fixed_->k(), room_.data(), rho);
        for (std::size_t l = 0; l < batch_size; ++l)
            if (l >= far_->y_->columns_in(batch_) || rho[l] == infinity) found &= ~(1u << l);
        return found & all_columns;
    }

    // How many are within the radii.
    void count(std::size_t number, const double* radius, std::int64_t* yz, std::int64_t* joint) {
        const double* const values = view().y;
        const double largest = *std::max_element(radius, radius + batch_size);
        while (filled() < far_->points_ && values[filled()] - values[number] <= largest) fill(filled() + 1);
        kernels().within_by_place(view(), number, radius, yz, joint);
    }

    std::size_t batch() const { return batch_; }
    std::size_t position(std::size_t number, std::size_t lane) const { return positions_[number * batch_size + lane]; }

private:
    const Kernels& kernels() const { return far_->fixed_->kernels(); }

    std::size_t filled() const { return positions_.size() / batch_size; }

    PlacedColumns view() const {
        return {.y = far_->values_[side_].data() + place_margin,
                .others = others_.data() + far_->columns_.size() * place_margin * batch_size,
                .dimensions = far_->columns_.size(),
                .caps = far_->caps_.empty() ? nullptr : far_->caps_.data()};
    }

    // Values before that number.
    void fill(std::size_t end) {
        const std::size_t begin = filled(), dimensions = far_->columns_.size();
        if (end <= begin) return;
        end = std::min(far_->points_, end + 64);
        positions_.resize(end * batch_size);
        others_.resize((end + 2 * place_margin) * dimensions * batch_size);
        const std::size_t last = far_->y_->columns_in(batch_) - 1;
        double* other = &others_[(begin + place_margin) * dimensions * batch_size];
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t place = side_ == below ? i : far_->points_ - 1 - i;
            std::uint32_t* const positions = &positions_[i * batch_size];
            for (std::size_t l = 0; l < batch_size; ++l)
                positions[l] = far_->y_->position_at(batch_ * batch_size + std::min(l, last), place);
            for (const double* const column : far_->columns_)
                for (std::size_t l = 0; l < batch_size; ++l) *other++ = column[positions[l]];
        }
    }

    const FarValues* far_;
    Side side_;
    std::size_t batch_;
    std::vector<std::uint32_t> positions_;  // of the points that have the values, eight for each
    AlignedVector<double> others_;          // the other columns there, with margins
    AlignedVector<double> room_;
};

std::optional<FarValues> FarValues::of(const FixedSide& fixed, const AlongY* along_y, const BatchedColumns& y,
                                       std::span<const double> values, const Options& options) {
    FarValues far(fixed, y, values);
    parallel_for(1, options, [&](std::size_t, int) {
        for (const Side side : {below, above}) far.searched_[side] = far.search_first(side, along_y);
    });
    if (far.searched_[below] + far.searched_[above] == 0) return {};
    parallel_for(y.batches() - 1, options, [&](std::size_t b, int) { far.search(b + 1); });
    return far;
}

FarValues::FarValues(const FixedSide& fixed, const BatchedColumns& y, std::span<const double> values)
    : fixed_(&fixed),
      y_(&y),
      points_(fixed.points()),
      most_(static_cast<std::size_t>(std::sqrt(static_cast<double>(fixed.k() * points_)))) {
    for (const Side side : {below, above}) {
        values_[side].assign(points_ + 2 * place_margin, infinity);
        std::fill_n(values_[side].begin(), place_margin, -infinity);
    }
    std::copy(values.begin(), values.end(), values_[below].begin() + place_margin);
    std::transform(values.rbegin(), values.rend(), values_[above].begin() + place_margin,
                   [](double value) { return -value; });
    const Geometry& geometry = fixed.geometry();
    const auto add = [&](const double* column, double cap) {
        columns_.push_back(column);
        caps_.push_back(cap);
    };
    for (std::size_t c = geometry.dimensions; c-- > 0;)  // x last
        add(geometry.coordinates + c * geometry.stride, cap_of(geometry.categories[c] != 0));
    if (fixed.x() != nullptr) add(fixed.x(), fixed.x_cap());
    if (*std::min_element(caps_.begin(), caps_.end()) == infinity) caps_.clear();
    const std::size_t rows = y.batches() * points_;
    known_.resize(rows);
    rho_ = std::make_unique_for_overwrite<double[]>(rows * batch_size);
    if (fixed.terms().mixed() || !fixed.counts_by_line())
        counts_ = std::make_unique_for_overwrite<CountsAlongY[]>(rows * batch_size);
}

// A search pays where it finds enough beside most columns, and where most of these points would have had long lists.
// That is looked at for some of the values. The factors are as measured, and no part of any answer.
std::size_t FarValues::search_first(Side side, const AlongY* along_y) {
    constexpr double enough = 3.0, patience = 24.0;
    constexpr std::size_t step = 4;
    double gain = 0.0, most = 0.0, share = 1.0;
    std::size_t paid = 0;
    End end(*this, side, 0);
    for (std::size_t i = 0; i < points_ / 2; ++i) {
        const unsigned found = search(end, i);
        if (along_y != nullptr && found != 0 && i % step == 0) {
            std::size_t far = 0;
            for (unsigned left = found; left != 0; left &= left - 1) {
                const std::size_t position = end.position(i, static_cast<std::size_t>(std::countr_zero(left)));
                far += along_y->to_list(position, kth_distances(position, 0)[std::countr_zero(left)]) > most_;
            }
            share = static_cast<double>(far) / std::popcount(found);
        }
        gain += share * std::popcount(found) - enough;
        if (gain < most - patience) break;
        if (gain < most) continue;
        most = gain;
        paid = i + 1;
    }
    return paid;
}

void FarValues::search(std::size_t batch) {
    for (const Side side : {below, above}) {
        End end(*this, side, batch);
        for (std::size_t i = 0; i < searched_[side]; ++i) search(end, i);
    }
}

unsigned FarValues::search(End& end, std::size_t number) {
    double rho[batch_size], radius[batch_size];
    std::int64_t yz[batch_size], joint[batch_size];
    if (number % often_enough == 0) end_if_stopped();
    const unsigned found = end.search(number, rho);
    if (counts_ && found != 0) {
        for (std::size_t l = 0; l < batch_size; ++l)
            radius[l] = (found >> l & 1u) != 0 ? rho[l] * fixed_->terms().reach() : -1.0;
        end.count(number, radius, yz, joint);
    }
    for (unsigned left = found; left != 0; left &= left - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t at = end.batch() * points_ + end.position(number, l);
        known_[at] |= static_cast<std::uint8_t>(1u << l);
        rho_[at * batch_size + l] = rho[l];
        if (counts_)
            counts_[at * batch_size + l] = {static_cast<std::uint32_t>(yz[l]), static_cast<std::uint32_t>(joint[l])};
    }
    return found;
}

}  // namespace knnmi
