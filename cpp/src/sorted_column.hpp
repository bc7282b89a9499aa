// A sorted column that eight comparisons at a time search: of its different values every level keeps the last of each
// run of eight below it. A search starts from cells. There is only one where the values would crowd in few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "kernels/views.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

std::vector<double> values_of(const Points& column);  // a single one

// The rows of a single column by ascending value.
std::vector<std::uint32_t> ascending_rows(const Points& column);

class SortedColumn {
public:
    // Takes the values in any order.
    explicit SortedColumn(std::span<const double> values);

    SortedColumn(const SortedColumn&) = delete;
    SortedColumn& operator=(const SortedColumn&) = delete;

    const SortedLevels& view() const { return view_; }
    std::span<const double> values() const { return values_; }

private:
    void make_levels();
    void make_cells(std::size_t different);
    bool fill_cells(std::span<const double> values, const Cells& cells);

    AlignedVector<double> values_;
    SortedLevels view_{};
    std::vector<AlignedVector<double>> levels_;
    std::vector<std::uint32_t> first_, before_cell_;
};

}  // namespace knnmi
