#include "sorted_line.hpp"

#include <algorithm>
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

// A side has about as many cells as a cell has rows, at most four times as many; so there are between n and about 4 n
// corners.
std::size_t root_shift(std::size_t points) {
    std::size_t shift = 0;
    while (points >> (2 * (shift + 1)) != 0) ++shift;
    return shift;
}

}  // namespace

SortedLine::SortedLine(const Points& z)
    : rows_(ascending_rows(z)), sorted_(values_at(rows_, z)), z_cap_(cap_of(z.is_category(0))) {}

RankedColumn::RankedColumn(std::shared_ptr<const SortedColumn> other, const SortedLine& line, std::span<const double> y,
                           double y_cap, const Kernels& kernels, Counts counts, std::span<const std::uint32_t> places)
    : points_(y.size()), sorted_(std::move(other)), line_(&line), ranks_(points_), y_cap_(y_cap) {
    const bool many = points_ >= worth_a_grid;
    const auto find_ranks = [&] {
        const std::vector<double> values = values_at(line.rows(), y);
        return kernels.rank(sorted_->view(), values.data(), points_, ranks_.data());
    };
    // Ranks among other values would do, as long as they are all there; a grid, and a y alone, need places.
    const bool needs_places = many || counts != Counts::in_windows;
    const auto known = [&] {
        if (places.empty()) return false;
        for (std::size_t i = 0; i < points_; ++i) ranks_[i] = places[line.rows()[i]];
        return order_by_rank() || !needs_places;
    };
    const auto usable = [&] { return find_ranks() && (!needs_places || (take_places() && order_by_rank())); };
    if (!sorted_ || !(known() || usable())) {
        sorted_ = std::make_shared<SortedColumn>(y);
        usable();
    }
    if (many)
        make_grid(root_shift(points_));
    else if (counts == Counts::by_grid)
        make_grid(small_grid_shift);
    if (!many) shorten();
}

// Equal values take the places from their rank on. False where the sorted values are not these, each as often: one too
// many takes a place that is another value's.
bool RankedColumn::take_places() {
    std::vector<std::uint32_t> taken(points_);
    const double* const values = sorted_->view().values;
    for (std::uint32_t& rank : ranks_) {
        const std::size_t place = rank + taken[rank]++;
        if (place == points_ || values[place] != values[rank]) return false;
        rank = static_cast<std::uint32_t>(place);
    }
    return true;
}

// False where several have the same rank.
bool RankedColumn::order_by_rank() {
    constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    by_rank_.assign(points_, none);
    bool once = true;
    for (std::size_t row = 0; row < points_; ++row) {
        std::uint32_t& at = by_rank_[ranks_[row]];
        once = once && at == none;
        at = static_cast<std::uint32_t>(row);
    }
    if (!once) by_rank_.clear();
    return once;
}

void RankedColumn::shorten() {
    const auto take = [](std::vector<std::uint32_t>& numbers, std::vector<std::uint16_t>& out) {
        if (numbers.empty()) return;
        out.resize(numbers.size() + 64);
        std::transform(numbers.begin(), numbers.end(), out.begin(),
                       [](std::uint32_t number) { return static_cast<std::uint16_t>(number); });
        numbers = {};
    };
    take(ranks_, short_ranks_);
    take(by_rank_, short_by_rank_);
}

OrderedRows RankedColumn::ordered(std::span<const double* const> columns, std::span<const double> caps) const {
    if (short_by_rank_.empty()) return ascending().ordered(columns, caps);
    return {.points = points_,
            .y = sorted_->view().values,
            .rows = nullptr,
            .short_rows = short_by_rank_.data(),
            .y_cap = y_cap_,
            .columns = columns,
            .caps = caps};
}

AscendingColumn RankedColumn::ascending() const {
    if (!by_rank_.empty()) return {by_rank_, ranks_, sorted_->values(), y_cap_};
    const auto make = [this](OwnAscendingColumn& made) {
        made.rows.resize(points_);
        made.places.resize(points_);
        made.values.resize(points_);
        std::vector<std::uint32_t> next(points_ + 1);  // the place for the next row of each rank
        for (std::size_t row = 0; row < points_; ++row) ++next[rank(row) + 1];
        for (std::size_t place = 0; place < points_; ++place) next[place + 1] += next[place];
        for (std::size_t row = 0; row < points_; ++row) {
            const std::uint32_t place = next[rank(row)]++;
            made.rows[place] = static_cast<std::uint32_t>(row);
            made.places[row] = place;
            made.values[place] = sorted_->view().values[rank(row)];
        }
    };
    return later_->ascending.get(make).view(y_cap_);
}

const std::vector<std::uint32_t>& RankedColumn::coincident(const Labels& labels) const {
    return later_->coincident.get([&](std::vector<std::uint32_t>& coincident) {
        const AscendingColumn by_y = ascending();
        std::vector<std::uint32_t> rows(by_y.rows.begin(), by_y.rows.end());
        coincident.resize(points_);
        for (std::size_t begin = 0, end = 0; begin < points_; begin = end) {
            while (end < points_ && by_y.values[end] == by_y.values[begin]) ++end;
            const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto last = rows.begin() + static_cast<std::ptrdiff_t>(end);
            std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
            for (auto cell = first; cell != last;) {
                const auto next =
                    std::find_if(cell, last, [&](std::uint32_t row) { return labels[row] != labels[*cell]; });
                for (auto row = cell; row != next; ++row)
                    coincident[*row] = static_cast<std::uint32_t>(next - cell - 1);
                cell = next;
            }
        }
    });
}

void RankedColumn::make_grid(std::size_t shift) {
    grid_shift_ = shift;
    const std::size_t cells = points_ >> grid_shift_, corners = cells + 1;
    grid_.assign(corners * corners, 0);
    for (std::size_t i = 0; i < cells << grid_shift_; ++i) {
        const std::size_t column = ranks_[i] >> grid_shift_;
        if (column < cells) ++grid_[((i >> grid_shift_) + 1) * corners + column + 1];
    }
    for (std::size_t row = 1; row < corners; ++row) {
        std::uint32_t in_row = 0;
        for (std::size_t column = 1; column < corners; ++column) {
            in_row += grid_[row * corners + column];
            grid_[row * corners + column] = grid_[(row - 1) * corners + column] + in_row;
        }
    }
}

RankedLine RankedColumn::view() const {
    const bool many = points_ >= worth_a_grid;
    return {.points = points_,
            .y = &sorted_->view(),
            .z = &line_->z(),
            .ranks = many ? nullptr : short_ranks_.data(),
            .by_rank = short_by_rank_.empty() ? nullptr : short_by_rank_.data(),
            .places = many ? ranks_.data() : nullptr,
            .by_place = many ? by_rank_.data() : nullptr,
            .grid = grid_.empty() ? nullptr : grid_.data(),
            .grid_shift = grid_shift_,
            .y_cap = y_cap_,
            .z_cap = line_->z_cap()};
}

}  // namespace knnmi
