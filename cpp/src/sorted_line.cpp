#include "sorted_line.hpp"

#include <utility>

namespace knnmi {
namespace {

std::vector<double> values_at(const std::vector<std::uint32_t>& rows, const Points& column) {
    std::vector<double> values(rows.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column(rows[i], 0);
    return values;
}

}  // namespace

SortedLine::SortedLine(const Points& z) : rows_(ascending_rows(z)), sorted_(values_at(rows_, z)) {}

RankedColumn::RankedColumn(std::shared_ptr<const SortedColumn> sorted, const SortedLine* line,
                           std::span<const double> y, const Kernels& kernels)
    : points_(y.size()), sorted_(std::move(sorted)), line_(line) {
    if (line == nullptr) return;
    std::vector<double> along(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) along[i] = y[line->rows()[i]];
    ranks_.resize(y.size());
    kernels.rank(sorted_->view(), along.data(), along.size(), ranks_.data());
}

RankedLine RankedColumn::view() const {
    return {points_, &sorted_->view(), line_ == nullptr ? nullptr : &line_->z(), ranks_.data()};
}

}  // namespace knnmi
