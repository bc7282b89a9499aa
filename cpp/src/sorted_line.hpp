// For z of one column. Rows are sorted by z, so all points within a radius in z form one window; y is stored as ranks
// in that order, so counting in (y, z) is counting integers of a range in the window.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "knnmi/points.hpp"
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

// One y along a SortedLine; with no line, z is empty and the sorted values are all there is.
class RankedColumn {
public:
    // Sorts only if it has to: the sorted values of another y, which may be null, do as well when they are the same
    // values, as they are in permutations.
    RankedColumn(std::shared_ptr<const SortedColumn> other, const SortedLine* line, std::span<const double> y,
                 double y_cap, const Kernels& kernels);

    const std::shared_ptr<const SortedColumn>& sorted() const { return sorted_; }
    RankedLine view() const;

private:
    std::size_t points_;
    std::shared_ptr<const SortedColumn> sorted_;
    const SortedLine* line_;
    std::vector<std::uint32_t> ranks_;  // along the line
    double y_cap_;
};

}  // namespace knnmi
