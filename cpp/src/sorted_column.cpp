#include "sorted_column.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace knnmi {
namespace {

constexpr std::size_t run = 8;
constexpr double beyond = std::numeric_limits<double>::quiet_NaN();  // fails every comparison

constexpr std::size_t most_cells_for_each = 4;  // value: many of these are far out and empty
constexpr std::size_t values_for_one_beyond = 1024;
constexpr std::size_t most_in_cell = 5;  // that are found there nearly always

// Around the densest half of the values, which is the first octave on both sides. A few values at both ends are in the
// last cells, however far out they are: one would take many octaves, and leave few cells to the others. None, where the
// half is too narrow or too wide for a number.
std::optional<Cells> cells_over(std::span<const double> values) {
    const std::size_t half = values.size() / 2;
    std::size_t densest = 0;
    for (std::size_t i = 0; i + half < values.size(); ++i)
        if (values[i + half] - values[i] < values[densest + half] - values[densest]) densest = i;
    const double low = values[densest], width = values[densest + half] - low, per_unit = 2.0 / width;
    if (per_unit == 0.0 || per_unit == std::numeric_limits<double>::infinity()) return std::nullopt;
    const double middle = low + 0.5 * width;
    const std::size_t few = 1 + values.size() / values_for_one_beyond;
    Cells cells{.middle = middle,
                .per_unit = per_unit,
                .first = (values[few] - middle) * per_unit,
                .last = (values[values.size() - 1 - few] - middle) * per_unit,
                .shift = 0,
                .before = 0};
    do ++cells.shift;
    while (cells.of(values.back()) - cells.of(values.front()) >= most_cells_for_each * values.size());
    cells.before = -cells.of(values.front());
    return cells;
}

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
    if (!std::is_sorted(values_.begin(), values_.end())) std::sort(values_.begin(), values_.end());
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
    levels_.front().insert(levels_.front().begin(), run, -std::numeric_limits<double>::infinity());  // in whole lines
    view_.levels = levels_.size();
    for (std::size_t l = 0; l < levels_.size(); ++l) view_.level[l] = levels_[l].data() + (l == 0 ? run : 0);
}

// Only one where there are few values, or where too many would share theirs with others.
void SortedColumn::make_cells(std::size_t different) {
    const std::span<const double> values(view_.level[0], different);
    if (different > run)
        if (const std::optional<Cells> cells = cells_over(values); cells && fill_cells(values, *cells)) return;
    view_.cells = {};
    before_cell_.assign(1, 0);
    view_.before_cell = before_cell_.data();
}

// False where too many values share theirs with others.
bool SortedColumn::fill_cells(std::span<const double> values, const Cells& cells) {
    view_.cells = cells;
    before_cell_.assign(cells.of(values.back()) + 1, 0);
    for (const double value : values) ++before_cell_[cells.of(value)];
    std::size_t before = 0, crowded = 0;
    for (std::uint32_t& cell : before_cell_) {
        const std::size_t here = cell;
        if (here > most_in_cell) crowded += here;
        cell = static_cast<std::uint32_t>(before);
        before += here;
    }
    view_.before_cell = before_cell_.data();
    return crowded <= values.size() / 4;
}

}  // namespace knnmi
