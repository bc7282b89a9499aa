// A column whose rows are looked at from the nearest value on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"

namespace knnmi {

// Of values that others keep.
struct AscendingColumn {
    std::span<const std::uint32_t> rows, places;  // the rows by ascending value, and where each row is among them
    std::span<const double> values;               // in that order
    double cap;

    // Beside columns by row.
    OrderedRows ordered(std::span<const double* const> columns, std::span<const double> caps) const {
        return {.points = rows.size(),
                .y = values.data(),
                .rows = rows.data(),
                .short_rows = nullptr,
                .y_cap = cap,
                .columns = columns,
                .caps = caps};
    }

    // Calls visit(row, distance) for the other rows that are near, on both sides at once. False from it ends the walk.
    template <class Near, class Visit>
    void outward(std::uint32_t row, const Near& near, const Visit& visit) const {
        std::size_t below = places[row], above = below + 1;
        const double center = values[below];
        for (bool more = true; more;) {
            more = false;
            if (below > 0) {
                const double d = std::min(center - values[below - 1], cap);
                if (near(d)) {
                    if (!visit(rows[--below], d)) return;
                    more = true;
                }
            }
            if (above < values.size()) {
                const double d = std::min(values[above] - center, cap);
                if (near(d)) {
                    if (!visit(rows[above++], d)) return;
                    more = true;
                }
            }
        }
    }
};

// One with values of its own.
struct OwnAscendingColumn {
    std::vector<std::uint32_t> rows, places;
    std::vector<double> values;

    AscendingColumn view(double cap) const { return {rows, places, values, cap}; }
};

}  // namespace knnmi
