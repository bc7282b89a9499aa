// Counts in z and in (y, z) when z has one column, and in a y alone.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

// How many values are smaller.
inline std::size_t smaller_in(const SortedLevels& sorted, double value) {
    const Doubles compared = broadcast(value);
    return partition_point(sorted, value, [=](Doubles v) { return less(v, compared); });
}

inline bool rank(const SortedLevels& sorted, const double* values, std::size_t n, std::uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t smaller = smaller_in(sorted, values[i]);
        if (smaller == n || sorted.values[smaller] != values[i]) return false;
        out[i] = static_cast<std::uint32_t>(smaller);
    }
    return true;
}

inline std::size_t size(Range range) { return range.end - range.begin; }

// How many of the numbers at the places of a range are in another one.
template <class Number>
inline std::size_t numbers_within(const Number* numbers, Range places, Range wanted) {
    return count_between(numbers + places.begin, size(places), static_cast<Number>(wanted.begin),
                         static_cast<Number>(size(wanted)));
}

// The same by the grid. Of a wide window only its edges are looked at, outside of the whole cells: so the time grows
// with the root of the number of points.
inline std::size_t placed_by_grid(const RankedLine& line, Range window, Range places) {
    constexpr std::size_t wide = 16;  // cells; fewer are sooner counted one by one
    const std::size_t shift = line.grid_shift, whole = (std::size_t{1} << shift) - 1;
    const Range rows{(window.begin + whole) >> shift, window.end >> shift};
    if (rows.end < rows.begin + wide) return numbers_within(line.places, window, places);
    const Range inner{rows.begin << shift, rows.end << shift};
    const std::size_t edges = numbers_within(line.places, {window.begin, inner.begin}, places) +
                              numbers_within(line.places, {inner.end, window.end}, places);
    const Range columns{(places.begin + whole) >> shift, places.end >> shift};
    if (columns.end <= columns.begin) return edges + numbers_within(line.by_place, places, inner);
    const std::size_t corners = (line.points >> shift) + 1;
    const auto before = [&](std::size_t row, std::size_t column) -> std::size_t {
        return line.grid[row * corners + column];
    };
    return edges + numbers_within(line.by_place, {places.begin, columns.begin << shift}, inner) +
           numbers_within(line.by_place, {columns.end << shift, places.end}, inner) + before(rows.end, columns.end) -
           before(rows.begin, columns.end) - before(rows.end, columns.begin) + before(rows.begin, columns.begin);
}

// Of a category everything is within a radius of 1.
inline double capped_radius(double radius, double cap) { return radius < cap ? radius : __builtin_inf(); }

inline Range window_of(const RankedLine& line, double z, double radius) {
    return line.z == nullptr ? Range{0, line.points} : sorted_within(*line.z, z, capped_radius(radius, line.z_cap));
}

// Points in the window of z that have their place in y in the range.
inline std::size_t placed_within(const RankedLine& line, Range window, Range places) {
    if (line.grid != nullptr) return placed_by_grid(line, window, places);
    if (line.ranks == nullptr) return size(places);
    // Points side by side have the same window, so it is mostly in the cache.
    if (line.by_rank != nullptr && 4 * size(places) < size(window)) return numbers_within(line.by_rank, places, window);
    return numbers_within(line.ranks, window, places);
}

inline LineCounts line_within(const RankedLine& line, double y, double z, double radius) {
    const Range window = window_of(line, z, radius);
    const Range places = sorted_within(*line.y, y, capped_radius(radius, line.y_cap));
    return {placed_within(line, window, places), size(places), size(window)};
}

inline void batch_smaller(const RankedLine* lines, std::size_t columns, const double* y, std::uint32_t* out) {
    for (std::size_t l = 0; l < columns; ++l) out[l] = static_cast<std::uint32_t>(smaller_in(*lines[l].y, y[l]));
}

// First all searches, which overlap in the processor, then the loops of unforeseeable length.
inline void batch_line_within(const RankedLine* lines, std::size_t columns, const double* y, double z,
                              const double* radius, std::int64_t* in_z, std::int64_t* in_yz) {
    Range window[lanes], places[lanes];
    for (std::size_t l = 0; l < columns; ++l) {
        window[l] = window_of(lines[l], z, radius[l]);
        places[l] = sorted_within(*lines[l].y, y[l], capped_radius(radius[l], lines[l].y_cap));
    }
    for (std::size_t l = 0; l < columns; ++l) {
        in_z[l] = static_cast<std::int64_t>(size(window[l])) - 1;
        in_yz[l] = static_cast<std::int64_t>(placed_within(lines[l], window[l], places[l])) - 1;
    }
}

}  // namespace knnmi::KNNMI_ISA
