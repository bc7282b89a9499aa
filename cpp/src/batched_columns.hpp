// Many y's in the layout in which eight at a time are read.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "ascending_column.hpp"
#include "engines.hpp"
#include "fixed_side.hpp"
#include "made_later.hpp"

namespace knnmi {

// What the columns are laid out by.
struct BatchLayout {
    std::span<const std::uint32_t> rows;                             // at each position
    std::size_t stride;                                              // positions of a batch, of which some may be empty
    const SortedLine* line;                                          // along which each column is known too, or null
    RankedColumn::Counts counts = RankedColumn::Counts::in_windows;  // along the line
    std::span<const EqualPoints> sets{};                             // among which each column is known too
    std::size_t first_placed = 0;  // of the sets whose points have a place in it; these have no point in common
    const Kernels* kernels;
};

// Batches of eight columns side by side, by position.
class BatchedColumns {
public:
    // Columns first to first + count - 1 of the source.
    BatchedColumns(const BatchLayout& layout, const ColumnSource& source, std::size_t first, std::size_t count,
                   const Options& options);

    std::size_t batches() const { return (columns_ + batch_size - 1) / batch_size; }
    std::size_t columns() const { return columns_; }
    std::size_t columns_in(std::size_t batch) const { return std::min(batch_size, columns_ - batch * batch_size); }
    BatchView batch(std::size_t b) const {
        const auto values = [&](std::size_t of) { return values_.data() + of * rows_ * batch_size; };
        return {.values = values(b),
                .caps = caps_.empty() ? nullptr : caps_.data() + b * batch_size,
                .next = values(b + 1 < batches() ? b + 1 : 0)};
    }
    // Where there is a line, as are the next.
    RankedLines lines(std::size_t batch) const {
        return {lines_.data() + batch * batch_size, &cells_[batch], this->batch(batch).caps};
    }
    // The columns of a batch among the points of a set.
    RankedLines lines_among(std::size_t set, std::size_t batch) const {
        const std::size_t at = batch * sets_ + set;
        return {set_lines_.data() + at * batch_size, &set_cells_[at], this->batch(batch).caps};
    }
    std::span<const double> values_among(std::size_t set, std::size_t batch, std::size_t lane) const {
        return in_sets_[(batch * sets_ + set) * batch_size + lane]->values();  // ascending
    }
    // Where a point is among these of its own set, if it is in one whose points have places.
    std::uint32_t own_place(std::size_t batch, std::size_t position, std::size_t lane) const {
        return own_places_[(batch * rows_ + position) * batch_size + lane];
    }
    const RankedColumn& ranked(std::size_t column) const { return *ranked_[column]; }
    // All values, ascending, where the columns hold the same ones, each as often; else none. And where a column has
    // the one at a place.
    std::span<const double> shared_values(const Options& options) const;
    std::uint32_t position_at(std::size_t column, std::size_t place) const {
        return ranked_.empty() ? ascending(column).rows[place] : positions_along_[ranked_[column]->row_at(place)];
    }
    // Makes the places of columns that hold the same values, which are given. Not where there is a line.
    void place(std::span<const double> values, const Options& options);
    bool placed() const { return !short_places_.empty(); }
    // Four batches from this one on, or fewer.
    PlacedBatches placed(std::size_t batch) const {
        return {.places = short_places_.data() + batch * rows_ * batch_size,
                .shift = shift_,
                .sorted = &sorted_->view(),
                .values = this->batch(batch).values,
                .columns = std::min(four_batches, columns_ - batch * batch_size),
                .stride = rows_ * batch_size};
    }
    Points by_position(std::size_t column) const;
    // By position. Made when first wanted, by whichever thread it is.
    AscendingColumn ascending(std::size_t column) const;

private:
    void fill(std::size_t b, const BatchLayout& layout);
    std::vector<std::uint32_t> ascending_positions(std::size_t column) const;
    // Of y number 0, by row, where the others are permutations of it: equal values one after another.
    const std::vector<std::uint32_t>& places() const;
    void sort_in_sets(std::size_t b, std::size_t lane, std::span<const std::uint32_t> ascending,
                      std::size_t first_placed);

    const ColumnSource* source_;
    std::size_t first_;                      // number of the first column there
    std::span<const std::uint32_t> row_at_;  // the row at each position
    std::size_t points_, rows_, columns_, sets_;
    AlignedVector<double> values_;
    AlignedVector<double> caps_;                  // empty: no categories
    std::vector<unsigned char> categories_;       // by column
    std::vector<double> permuted_;                // y number 0, where the others are permutations of it
    std::shared_ptr<const SortedColumn> sorted_;  // that one or else the first, which may serve all others
    mutable MadeLater<std::vector<std::uint32_t>> places_;
    std::vector<std::optional<RankedColumn>> ranked_;
    std::vector<RankedLine> lines_;               // views of them
    std::vector<std::uint32_t> positions_along_;  // of the rows along the line
    std::vector<BatchCells> cells_;
    std::vector<std::vector<std::uint32_t>> sets_at_;  // of each block
    std::vector<std::unique_ptr<const SortedColumn>> in_sets_;
    std::vector<RankedLine> set_lines_;  // views of them
    std::vector<BatchCells> set_cells_;
    std::vector<std::uint32_t> own_places_;
    std::unique_ptr<MadeLater<OwnAscendingColumn>[]> ascending_;
    AlignedVector<std::uint16_t> short_places_;  // over 2^shift_: 32 columns side by side, by position
    std::size_t shift_ = 0;
};

}  // namespace knnmi
