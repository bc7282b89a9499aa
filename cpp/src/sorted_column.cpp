#include "sorted_column.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace knnmi {
namespace {

constexpr std::size_t run = 8;
constexpr double beyond = std::numeric_limits<double>::quiet_NaN();  // fails every comparison

constexpr std::size_t cells_for_each = 2;              // value, of equal width
constexpr std::size_t most_octave_cells_for_each = 8;  // many of these are far out and empty
constexpr std::size_t most_in_cell = 5;                // that are found there nearly always

Cells even_cells(std::span<const double> values) {
    const std::size_t count = cells_for_each * values.size();
    return {.origin = values.front(),
            .per_unit = static_cast<double>(count) / (values.back() - values.front()),
            .last = static_cast<double>(count - 1)};
}

// Around the densest half of the values, which is the first octave on both sides. None, where that is too narrow or
// too wide for a number.
std::optional<Cells> octave_cells(std::span<const double> values) {
    const std::size_t half = values.size() / 2;
    std::size_t first = 0;
    for (std::size_t i = 0; i + half < values.size(); ++i)
        if (values[i + half] - values[i] < values[first + half] - values[first]) first = i;
    const double low = values[first], width = values[first + half] - low, per_unit = 2.0 / width;
    if (per_unit == 0.0 || per_unit == std::numeric_limits<double>::infinity()) return std::nullopt;
    Cells cells{.origin = low + 0.5 * width, .per_unit = per_unit, .last = 0x1p62, .before = std::int64_t{1} << 61};
    std::size_t before, count;
    do {
        ++cells.shift;
        before = cells.of(values.front());
        count = cells.of(values.back()) - before + 1;
    } while (count > most_octave_cells_for_each * values.size());
    cells.before -= static_cast<std::int64_t>(before);
    cells.last = static_cast<double>(count - 1);
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
    view_.levels = levels_.size();
    for (std::size_t l = 0; l < levels_.size(); ++l) view_.level[l] = levels_[l].data();
}

// None, where too many values would share theirs with others for them to be of use.
void SortedColumn::make_cells(std::size_t different) {
    const std::span<const double> values(view_.level[0], different);
    bool useful = fill_cells(values, even_cells(values));
    if (!useful)
        if (const std::optional<Cells> cells = octave_cells(values)) useful = fill_cells(values, *cells);
    if (useful)
        view_.before_cell = before_cell_.data();
    else
        before_cell_ = {};
}

// False where too many values share theirs with others.
bool SortedColumn::fill_cells(std::span<const double> values, const Cells& cells) {
    view_.cells = cells;
    before_cell_.assign(static_cast<std::size_t>(cells.last) + 1, 0);
    for (const double value : values) ++before_cell_[cells.of(value)];
    std::size_t before = 0, crowded = 0;
    for (std::uint32_t& cell : before_cell_) {
        const std::size_t here = cell;
        if (here > most_in_cell) crowded += here;
        cell = static_cast<std::uint32_t>(before > 0 ? before - 1 : 0);
        before += here;
    }
    return crowded <= values.size() / 4;
}

}  // namespace knnmi
