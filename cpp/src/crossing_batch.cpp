#include "crossing_batch.hpp"

#include <algorithm>

namespace knnmi {
namespace {

// How many times as sparse. With evenly spread values no point looks along y, and one side is enough.
constexpr double much_sparser = 2.0;

}  // namespace

void CrossingBatch::put_side_by_side(std::size_t columns, const Axis& x, const Axis* y, std::size_t most) {
    std::transform(crossings_, crossings_ + columns, planes_,
                   [](const Crossing& crossing) { return crossing.plane(); });
    x_.looking.assign(planes_->points, static_cast<std::uint8_t>((1u << columns) - 1));
    along_y_ = y != nullptr && send_to_sparser_axes(columns, x.spacing(), y->spacing());
    fill(batches_[0], x_, &Plane::x, columns, most);
    if (along_y_) fill(batches_[1], y_, &Plane::y, columns, most);
}

// Whether any point looks along y.
bool CrossingBatch::send_to_sparser_axes(std::size_t columns, std::span<const double> x, std::span<const double> y) {
    const std::size_t points = x.size();
    if (std::ranges::max(y) <= much_sparser * std::ranges::min(x)) return false;
    y_.looking.assign(points, 0);
    for (std::size_t l = 0; l < columns; ++l) {
        for (std::size_t p = 0; p < points; ++p) {
            const std::uint32_t q = planes_[l].place_in_y[p];
            const unsigned along_y = y[q] > much_sparser * x[p] ? 1u << l : 0u;
            x_.looking[p] = static_cast<std::uint8_t>(x_.looking[p] & ~along_y);
            y_.looking[q] = static_cast<std::uint8_t>(y_.looking[q] | along_y);
        }
    }
    return true;
}

void CrossingBatch::fill(PlaneBatch& batch, Side& side, PlaneAxis Plane::* axis, std::size_t columns,
                         std::size_t most) const {
    const std::size_t points = planes_->points;
    side.across.resize((points + 2 * batch_step) * batch_size);
    double* const across = side.across.data() + batch_step * batch_size;
    for (std::size_t l = 0; l < columns; ++l)
        for (std::size_t place = 0; place < points; ++place)
            across[place * batch_size + l] = (planes_[l].*axis).across[place];
    batch = {.planes = planes_,
             .columns = columns,
             .along = axis,
             .across = across,
             .looking = side.looking.data(),
             .most = most};
}

}  // namespace knnmi
