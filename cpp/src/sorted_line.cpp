#include "sorted_line.hpp"

#include <algorithm>
#include <numeric>

namespace knnmi {
namespace {

std::vector<double> copy_of(const Points& column) {
    std::vector<double> values(column.rows());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column(i, 0);
    return values;
}

}  // namespace

SortedLine::SortedLine(const Points& z) : rows_(z.rows()), sorted_(copy_of(z)) {
    std::iota(rows_.begin(), rows_.end(), 0u);
    std::sort(rows_.begin(), rows_.end(), [&z](std::uint32_t a, std::uint32_t b) { return z(a, 0) < z(b, 0); });
}

RankedColumn::RankedColumn(std::shared_ptr<const SortedColumn> sorted, const SortedLine* line, std::span<const double> y,
                           const Kernels& kernels)
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
