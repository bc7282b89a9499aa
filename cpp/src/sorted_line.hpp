// For z of one column. Rows are sorted by z, so all points within a radius in z form one window; y is stored as places
// among its sorted values in that order, so counting in (y, z) is counting integers of a range in the window.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ascending_column.hpp"
#include "kernels/kernels.hpp"
#include "knnmi/points.hpp"
#include "labels.hpp"
#include "made_later.hpp"
#include "sorted_column.hpp"

namespace knnmi {

class SortedLine {
public:
    explicit SortedLine(const Points& z);  // of one column

    const std::vector<std::uint32_t>& rows() const { return rows_; }  // by ascending z
    const SortedLevels& z() const { return sorted_.view(); }
    double z_cap() const { return z_cap_; }

private:
    std::vector<std::uint32_t> rows_;
    SortedColumn sorted_;
    double z_cap_;
};

inline constexpr std::size_t worth_a_grid = 8192;  // rows from which on every column has one

// One y along a SortedLine.
class RankedColumn {
public:
    // What is counted of it: ranges in windows of z; ranges alone too; or those in windows, by a grid however few rows
    // there are.
    enum class Counts { in_windows, alone_too, by_grid };

    // Sorts only if it has to: the sorted values of another y, which may be null, do as well when they are the same
    // values, as they are in permutations; for each row, `places` are where its value is among them, where that is
    // known. They must be there as often for counts other than in windows.
    RankedColumn(std::shared_ptr<const SortedColumn> other, const SortedLine& line, std::span<const double> y,
                 double y_cap, const Kernels& kernels, Counts counts = Counts::in_windows,
                 std::span<const std::uint32_t> places = {});

    const std::shared_ptr<const SortedColumn>& sorted() const { return sorted_; }
    double cap() const { return y_cap_; }
    RankedLine view() const;

    // Rows are counted along the line. Made when first wanted, by whichever thread it is.
    AscendingColumn ascending() const;

    // The same in part, often made sooner: the place of a row, and the rows by place beside columns by row.
    std::size_t place(std::size_t row) const {
        return short_by_rank_.empty() ? ascending().places[row] : short_ranks_[row];
    }
    // The row at a place, where equal values have places of their own, each of them once.
    bool has_each_place() const { return !short_by_rank_.empty() || !by_rank_.empty(); }
    std::uint32_t row_at(std::size_t place) const {
        return short_by_rank_.empty() ? by_rank_[place] : short_by_rank_[place];
    }
    OrderedRows ordered(std::span<const double* const> columns, std::span<const double> caps) const;

    // For each row, how many others have the same y and the same label; the labels are the same ones in every call.
    const std::vector<std::uint32_t>& coincident(const Labels& labels) const;

private:
    struct Later {
        MadeLater<OwnAscendingColumn> ascending;
        MadeLater<std::vector<std::uint32_t>> coincident;
    };

    std::uint32_t rank(std::size_t row) const { return short_ranks_.empty() ? ranks_[row] : short_ranks_[row]; }
    bool take_places();
    bool order_by_rank();
    void shorten();
    void make_grid(std::size_t shift);

    std::size_t points_;
    std::shared_ptr<const SortedColumn> sorted_;
    const SortedLine* line_;
    // Among the sorted values, or places of their own: then there is the inverse too. Shorter where there are few.
    std::vector<std::uint32_t> ranks_, by_rank_;
    std::vector<std::uint16_t> short_ranks_, short_by_rank_;
    std::vector<std::uint32_t> grid_;
    std::size_t grid_shift_ = 0;
    double y_cap_;
    std::unique_ptr<Later> later_ = std::make_unique<Later>();
};

}  // namespace knnmi
