#include "sorted_line.hpp"

#include <utility>

namespace knnmi {
namespace {

std::vector<double> values_at(const std::vector<std::uint32_t>& rows, std::span<const double> column) {
    std::vector<double> values(rows.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column[rows[i]];
    return values;
}

std::vector<double> values_at(const std::vector<std::uint32_t>& rows, const Points& column) {
    std::vector<double> values(rows.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column(rows[i], 0);
    return values;
}

// Whether values that are all among the sorted ones, as many as those, are each there as often. Equal values take the
// places from their rank on; one too many takes a place that is another value's.
bool is_rearrangement(std::span<const double> values, const std::vector<std::uint32_t>& ranks,
                      const SortedColumn& sorted) {
    std::vector<std::uint32_t> taken(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t place = ranks[i] + taken[ranks[i]]++;
        if (place == values.size() || sorted.view().level[0][place] != values[i]) return false;
    }
    return true;
}

}  // namespace

SortedLine::SortedLine(const Points& z)
    : rows_(ascending_rows(z)), sorted_(values_at(rows_, z)), z_cap_(cap_of(z.is_category(0))) {}

RankedColumn::RankedColumn(std::shared_ptr<const SortedColumn> other, const SortedLine* line, std::span<const double> y,
                           double y_cap, const Kernels& kernels)
    : points_(y.size()), sorted_(std::move(other)), line_(line), y_cap_(y_cap) {
    std::vector<std::uint32_t> ranks(points_);
    const auto found = [&](std::span<const double> values) {
        return kernels.rank(sorted_->view(), values.data(), points_, ranks.data());
    };
    const auto sort = [&] { sorted_ = std::make_shared<SortedColumn>(y); };
    if (line == nullptr) {
        if (!sorted_ || !found(y) || !is_rearrangement(y, ranks, *sorted_)) sort();
    } else {
        const std::vector<double> along = values_at(line->rows(), y);
        if (!sorted_ || !found(along)) {
            sort();
            found(along);
        }
        ranks_ = std::move(ranks);
    }
}

RankedLine RankedColumn::view() const {
    if (line_ == nullptr) return {points_, &sorted_->view(), nullptr, nullptr, y_cap_, 0.0};
    return {points_, &sorted_->view(), &line_->z(), ranks_.data(), y_cap_, line_->z_cap()};
}

}  // namespace knnmi
