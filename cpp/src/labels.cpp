#include "labels.hpp"

#include <algorithm>

namespace knnmi {
namespace {

std::vector<double> levels_of(const Points& column) {
    std::vector<double> levels(column.rows());
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = column(i, 0);
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    return levels;
}

// The place of each value among the levels; false as soon as one is not there.
bool find_places(const Points& column, const std::vector<double>& levels, Labels& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto place = std::lower_bound(levels.begin(), levels.end(), column(i, 0));
        if (place == levels.end() || *place != column(i, 0)) return false;
        out[i] = static_cast<std::uint32_t>(place - levels.begin());
    }
    return true;
}

// Changes `labels` into new ones that are equal where both were.
void cross(Labels& labels, const Labels& other) {
    std::vector<std::uint64_t> pairs(labels.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = std::uint64_t{labels[i]} << 32 | other[i];
    std::vector<std::uint64_t> distinct = pairs;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        labels[i] =
            static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), pairs[i]) - distinct.begin());
}

}  // namespace

const Labels& RowLabels::of(const Points& points) {
    levels_.resize(points.columns());
    labels_.assign(points.rows(), 0);
    column_.resize(points.rows());
    for (std::size_t j = 0; j < points.columns(); ++j) {
        label(points.column(j), levels_[j]);
        if (j == 0)
            labels_ = column_;
        else
            cross(labels_, column_);
    }
    return labels_;
}

void RowLabels::label(const Points& column, std::vector<double>& levels) {
    if (find_places(column, levels, column_)) return;
    levels = levels_of(column);
    find_places(column, levels, column_);
}

}  // namespace knnmi
