// Whole numbers in the place of values, for counting rows that are equal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knnmi/points.hpp"

namespace knnmi {

using Labels = std::vector<std::uint32_t>;  // below the number of rows

// Labels that are equal exactly where the rows are equal in all columns. Columns that hold the same values as those
// before, as permutations do, need no sorting.
class RowLabels {
public:
    const Labels& of(const Points& points);

private:
    void label(const Points& column, std::vector<double>& levels);

    std::vector<std::vector<double>> levels_;  // of each column, ascending
    Labels column_, labels_;
};

}  // namespace knnmi
