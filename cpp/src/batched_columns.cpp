#include "batched_columns.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"

namespace knnmi {
namespace {

// All positions, by ascending place of their row.
std::vector<std::uint32_t> positions_by(std::span<const std::uint32_t> places, std::span<const std::uint32_t> rows) {
    std::vector<std::uint32_t> next(places.size() + 1), positions(rows.size());
    for (const std::uint32_t row : rows) ++next[places[row] + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t p = 0; p < rows.size(); ++p) positions[next[places[rows[p]]]++] = static_cast<std::uint32_t>(p);
    return positions;
}

// Of eight lines, of which those from some number on repeat the one before it.
BatchCells cells_of(RankedLine* lines, std::size_t columns) {
    BatchCells cells;
    for (std::size_t l = 0; l < batch_size; ++l) {
        if (l >= columns) lines[l] = lines[columns - 1];
        const Cells& own = lines[l].y->cells;
        cells.middle[l] = own.middle;
        cells.per_unit[l] = own.per_unit;
        cells.first[l] = own.first;
        cells.last[l] = own.last;
        cells.shift[l] = own.shift;
        cells.before[l] = own.before;
    }
    return cells;
}

}  // namespace

BatchedColumns::BatchedColumns(const BatchLayout& layout, const ColumnSource& source, std::size_t first,
                               std::size_t count, const Options& options)
    : source_(&source),
      first_(first),
      row_at_(layout.rows),
      points_(layout.rows.size()),
      rows_(layout.stride),
      columns_(count),
      sets_(layout.sets.size()),
      values_(batches() * rows_ * batch_size),
      in_sets_(batches() * batch_size * sets_),
      set_lines_(in_sets_.size()),
      set_cells_(batches() * sets_),
      own_places_(sets_ == 0 ? 0 : values_.size()),
      ascending_(std::make_unique<MadeLater<OwnAscendingColumn>[]>(columns_)) {
    if (source.rows) {
        permuted_.resize(points_);
        source.write(0, permuted_);
    }
    if (sets_ > 0) sets_at_.resize(rows_ / block_size);
    for (std::size_t set = 0; set < sets_; ++set)
        for (const std::uint32_t block : layout.sets[set].blocks)
            sets_at_[block].push_back(static_cast<std::uint32_t>(set));
    if (layout.line != nullptr) {
        std::vector<double> values = permuted_;
        if (values.empty()) {
            values.resize(points_);
            source.write(first, values);
        }
        sorted_ = std::make_shared<SortedColumn>(values);
        ranked_.resize(columns_);
        lines_.resize(batches() * batch_size);
        cells_.resize(batches());
        std::vector<std::uint32_t> position_of(points_);
        for (std::size_t p = 0; p < points_; ++p) position_of[layout.rows[p]] = static_cast<std::uint32_t>(p);
        for (const std::uint32_t row : layout.line->rows()) positions_along_.push_back(position_of[row]);
    }
    for (std::size_t column = 0; column < columns_; ++column) {
        categories_.push_back(source.is_category(first + column, 0));
        if (categories_.back() == 0) continue;
        if (caps_.empty()) caps_.assign(batches() * batch_size, cap_of(false));
        caps_[column] = cap_of(true);
    }
    parallel_for(batches(), options, [&](std::size_t b, int) { fill(b, layout); });
}

std::span<const double> BatchedColumns::shared_values(const Options& options) const {
    if (!caps_.empty()) return {};
    if (!ranked_.empty()) {
        const auto shares = [&](const auto& column) {
            return column->has_each_place() && column->sorted() == ranked_.front()->sorted();
        };
        return std::all_of(ranked_.begin(), ranked_.end(), shares) ? ranked_.front()->sorted()->values()
                                                                   : std::span<const double>();
    }
    const auto shares = [&](std::size_t column) {
        return std::ranges::equal(ascending(column).values, ascending(0).values);
    };
    if (!shares(columns_ - 1)) return {};  // mostly, if not all do, this one does not
    parallel_for(columns_, options, [&](std::size_t column, int) { ascending(column); });
    for (std::size_t column = 1; column + 1 < columns_; ++column)
        if (!shares(column)) return {};
    return ascending(0).values;
}

void BatchedColumns::place(std::span<const double> values, const Options& options) {
    sorted_ = std::make_shared<SortedColumn>(values);
    while ((points_ - 1) >> shift_ > most_places) ++shift_;
    const std::size_t fours = (columns_ + four_batches - 1) / four_batches;
    short_places_.resize(fours * rows_ * four_batches);
    parallel_for(fours, options, [&](std::size_t four, int) {
        for (std::size_t column = four * four_batches; column < std::min(columns_, (four + 1) * four_batches);
             ++column) {
            const std::span<const std::uint32_t> places = ascending(column).places;
            std::uint16_t* out = &short_places_[four * rows_ * four_batches + column % four_batches];
            for (std::size_t position = 0; position < points_; ++position, out += four_batches)
                *out = static_cast<std::uint16_t>(places[position] >> shift_);
        }
    });
}

Points BatchedColumns::by_position(std::size_t column) const {
    const double* const first = batch(column / batch_size).values + column % batch_size;
    return Points::strided(first, {points_, 1}, {batch_size, 1}).with_categories(&categories_[column]);
}

AscendingColumn BatchedColumns::ascending(std::size_t column) const {
    const auto make = [&](OwnAscendingColumn& made) {
        const Points values = by_position(column);
        made.rows = ascending_positions(column);
        made.places.resize(points_);
        made.values.resize(points_);
        for (std::size_t place = 0; place < points_; ++place) {
            made.places[made.rows[place]] = static_cast<std::uint32_t>(place);
            made.values[place] = values(made.rows[place], 0);
        }
    };
    return ascending_[column].get(make).view(cap_of(categories_[column] != 0));
}

const std::vector<std::uint32_t>& BatchedColumns::places() const {
    return places_.get([&](std::vector<std::uint32_t>& places) {
        places.resize(points_);
        std::uint32_t place = 0;
        for (const std::uint32_t row : ascending_rows(Points::single_column(permuted_.data(), points_)))
            places[row] = place++;
    });
}

std::vector<std::uint32_t> BatchedColumns::ascending_positions(std::size_t column) const {
    if (permuted_.empty()) return ascending_rows(by_position(column));
    const std::vector<std::uint32_t>& place_of = this->places();
    std::vector<std::uint32_t> places(points_);
    source_->rows(first_ + column, places);
    for (std::uint32_t& row : places) row = place_of[row];
    return positions_by(places, row_at_);
}

void BatchedColumns::fill(std::size_t b, const BatchLayout& layout) {
    const bool placed = !permuted_.empty() && (layout.line != nullptr || sets_ > 0);
    const std::span<const std::uint32_t> place_of = placed ? this->places() : std::span<const std::uint32_t>();
    std::vector<double> values(points_);
    std::vector<std::uint32_t> rows(permuted_.size()), places(place_of.size());
    double* const out = values_.data() + b * rows_ * batch_size;
    for (std::size_t lane = 0; lane < columns_in(b); ++lane) {
        end_if_stopped();
        const std::size_t column = b * batch_size + lane;
        if (source_->rows)
            source_->rows(first_ + column, rows);
        else
            source_->write(first_ + column, values);
        for (std::size_t row = 0; row < rows.size(); ++row) values[row] = permuted_[rows[row]];
        for (std::size_t row = 0; row < places.size(); ++row) places[row] = place_of[rows[row]];
        for (std::size_t position = 0; position < values.size(); ++position)
            out[position * batch_size + lane] = values[layout.rows[position]];
        if (sets_ > 0) {
            const std::vector<std::uint32_t> ascending =
                places.empty() ? ascending_rows(by_position(column)) : positions_by(places, layout.rows);
            sort_in_sets(b, lane, ascending, layout.first_placed);
        }
        if (layout.line == nullptr) continue;
        ranked_[column].emplace(sorted_, *layout.line, values, cap_of(categories_[column] != 0), *layout.kernels,
                                layout.counts, places);
        lines_[column] = ranked_[column]->view();
    }
    if (layout.line != nullptr) cells_[b] = cells_of(&lines_[b * batch_size], columns_in(b));
    for (std::size_t set = b * sets_; set < (b + 1) * sets_; ++set)
        set_cells_[set] = cells_of(&set_lines_[set * batch_size], columns_in(b));
}

// One column in all sets, whose points have the values in the order of the positions given.
void BatchedColumns::sort_in_sets(std::size_t b, std::size_t lane, std::span<const std::uint32_t> ascending,
                                  std::size_t first_placed) {
    const double* const values = batch(b).values;
    std::vector<std::vector<double>> among(sets_);
    for (const std::uint32_t position : ascending) {
        const std::size_t at = position * batch_size + lane;
        for (const std::uint32_t set : sets_at_[position / block_size]) {
            if (set >= first_placed)
                own_places_[b * rows_ * batch_size + at] = static_cast<std::uint32_t>(among[set].size());
            among[set].push_back(values[at]);
        }
    }
    for (std::size_t set = 0; set < sets_; ++set) {
        const std::size_t at = (b * sets_ + set) * batch_size + lane;
        in_sets_[at] = std::make_unique<SortedColumn>(among[set]);
        set_lines_[at] = {.points = among[set].size(),
                          .y = &in_sets_[at]->view(),
                          .z = nullptr,
                          .ranks = nullptr,
                          .by_rank = nullptr,
                          .places = nullptr,
                          .by_place = nullptr,
                          .grid = nullptr,
                          .grid_shift = 0,
                          .y_cap = cap_of(categories_[b * batch_size + lane] != 0),
                          .z_cap = 0.0};
    }
}

}  // namespace knnmi
