#include "sorted_column.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace knnmi {
namespace {

constexpr std::size_t run = 8;
constexpr double beyond = std::numeric_limits<double>::quiet_NaN();  // fails every comparison

constexpr std::size_t cells_for_each = 2;  // value
constexpr std::size_t most_in_cell = 5;    // that are found there nearly always

void fill_run(AlignedVector<double>& values) { values.resize((values.size() + run - 1) / run * run, beyond); }

}  // namespace

std::vector<double> values_of(const Points& column) {
    std::vector<double> values(column.rows());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = column(i, 0);
    return values;
}

std::vector<std::uint32_t> ascending_rows(const Points& column) {
    std::vector<std::pair<double, std::uint32_t>> values(column.rows());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = {column(i, 0), static_cast<std::uint32_t>(i)};
    std::sort(values.begin(), values.end());
    std::vector<std::uint32_t> rows(values.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = values[i].second;
    return rows;
}

SortedColumn::SortedColumn(std::span<const double> values) : values_(values.begin(), values.end()), levels_(1) {
    std::sort(values_.begin(), values_.end());
    for (std::size_t place = 0; place < values_.size(); ++place) {
        if (place > 0 && values_[place] == values_[place - 1]) continue;
        first_.push_back(static_cast<std::uint32_t>(place));
        levels_.front().push_back(values_[place]);
    }
    const std::size_t different = first_.size();
    first_.push_back(static_cast<std::uint32_t>(values_.size()));
    view_.values = values_.data();
    if (different < values_.size()) view_.first = first_.data();
    make_levels();
    make_cells(different);
}

void SortedColumn::make_levels() {
    fill_run(levels_.back());
    while (levels_.back().size() > run) {
        const AlignedVector<double>& below = levels_.back();
        AlignedVector<double> above;
        for (std::size_t last = run - 1; last < below.size(); last += run) above.push_back(below[last]);
        above.back() = beyond;  // a search that has passed all other runs belongs into the last one
        fill_run(above);
        levels_.push_back(std::move(above));
    }
    levels_.front().resize(levels_.front().size() + run, beyond);
    view_.levels = levels_.size();
    for (std::size_t l = 0; l < levels_.size(); ++l) view_.level[l] = levels_[l].data();
}

// None, where too many values would share theirs with others for them to be of use.
void SortedColumn::make_cells(std::size_t different) {
    const std::size_t count = cells_for_each * different;
    const double* const values = view_.level[0];
    view_.cells = {.low = values[0],
                   .per_unit = static_cast<double>(count) / (values[different - 1] - values[0]),
                   .last = static_cast<double>(count - 1)};
    before_cell_.assign(count, 0);
    for (std::size_t i = 0; i < different; ++i) ++before_cell_[view_.cells.of(values[i])];
    std::size_t before = 0, crowded = 0;
    for (std::uint32_t& cell : before_cell_) {
        const std::size_t here = cell;
        if (here > most_in_cell) crowded += here;
        cell = static_cast<std::uint32_t>(before > 0 ? before - 1 : 0);
        before += here;
    }
    if (crowded <= different / 4) view_.before_cell = before_cell_.data();
}

}  // namespace knnmi
