#include "fewer_columns.hpp"

#include <utility>

#include "labels.hpp"

namespace knnmi {
namespace {

bool is_constant(const Points& column) {
    for (std::size_t i = 1; i < column.rows(); ++i)
        if (column(i, 0) != column(0, 0)) return false;
    return true;
}

}  // namespace

FewerColumns::FewerColumns(const Points& z, bool merge) : z_(z) {
    std::vector<std::size_t> kept, merged;
    for (std::size_t c = 0; c < z.columns(); ++c)
        if (!is_constant(z.column(c))) (merge && z.is_category(c) ? merged : kept).push_back(c);
    if (merged.size() == 1) kept.push_back(std::exchange(merged, {}).front());
    if (kept.size() == z.columns()) return;
    for (const std::size_t c : kept) add(z.column(c));
    if (!merged.empty()) add_labels(merged);
    if (categories_.empty()) add(z.column(0));
}

void FewerColumns::add(const Points& column) {
    for (std::size_t i = 0; i < column.rows(); ++i) values_.push_back(column(i, 0));
    categories_.push_back(column.is_category(0));
}

void FewerColumns::add_labels(const std::vector<std::size_t>& columns) {
    std::vector<double> together;
    for (const std::size_t c : columns)
        for (std::size_t i = 0; i < z_.rows(); ++i) together.push_back(z_(i, c));
    RowLabels labels;
    const Labels& of_rows = labels.of(Points::column_major(together.data(), z_.rows(), columns.size()));
    values_.insert(values_.end(), of_rows.begin(), of_rows.end());
    categories_.push_back(1);
}

Points FewerColumns::points() const {
    if (values_.empty()) return z_;
    return Points::column_major(values_.data(), z_.rows(), categories_.size()).with_categories(categories_.data());
}

}  // namespace knnmi
