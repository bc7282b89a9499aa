// Counts in z and in (y, z) when z has one column, and in a y alone.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

// How many values are smaller.
inline std::size_t smaller_in(const SortedLevels& sorted, double value, std::size_t cell) {
    const Doubles compared = broadcast(value);
    return partition_point(sorted, cell, [=](Doubles v) { return less(v, compared); });
}

inline bool rank(const SortedLevels& sorted, const double* values, std::size_t n, std::uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t smaller = smaller_in(sorted, values[i], sorted.cells.of(values[i]));
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

// The same by a small grid, whose cells are so narrow that what is beside them is looked at in one step each.
[[gnu::noinline]] inline std::size_t placed_by_small_grid(const RankedLine& line, Range window, Range places) {
    constexpr std::size_t cell = std::size_t{1} << small_grid_shift;
    static_assert(cell == 32);
    const auto in_cell = [](const std::uint16_t* numbers, std::size_t end, Range wanted) {  // of its numbers before end
        if (wanted.begin == wanted.end) return std::size_t{0};
        const std::uint32_t all = between(numbers + end / cell * cell, static_cast<std::uint16_t>(wanted.begin),
                                          static_cast<std::uint16_t>(size(wanted)));
        return count(all & ((1u << end % cell) - 1));
    };
    const Range rows{window.begin / cell, window.end / cell}, columns{places.begin / cell, places.end / cell};
    const Range whole{rows.begin * cell, rows.end * cell};
    const std::size_t corners = line.points / cell + 1;
    const std::uint32_t* const first = line.grid + rows.begin * corners;
    const std::uint32_t* const last = line.grid + rows.end * corners;
    return last[columns.end] + first[columns.begin] + in_cell(line.ranks, window.end, places) +
           in_cell(line.by_rank, places.end, whole) - last[columns.begin] - first[columns.end] -
           in_cell(line.ranks, window.begin, places) - in_cell(line.by_rank, places.begin, whole);
}

inline Range window_of(const RankedLine& line, double z, double radius) {
    return line.z == nullptr ? Range{0, line.points} : sorted_within(*line.z, z, capped_radius(radius, line.z_cap));
}

// Points in the window of z that have their place in y in the range.
[[gnu::always_inline]] inline std::size_t placed_within(const RankedLine& line, Range window, Range places) {
    if (line.grid != nullptr)
        return line.ranks != nullptr ? placed_by_small_grid(line, window, places)
                                     : placed_by_grid(line, window, places);
    if (line.ranks == nullptr) return size(places);
    // Points side by side have the same window, so it is mostly in the cache.
    const bool by_rank = line.by_rank != nullptr && 4 * size(places) < size(window);
    const std::uint16_t* const numbers = by_rank ? line.by_rank : line.ranks;
    const Range along{by_rank ? places.begin : window.begin, by_rank ? places.end : window.end};
    const Range wanted{by_rank ? window.begin : places.begin, by_rank ? window.end : places.end};
    return numbers_within(numbers, along, wanted);
}

inline LineCounts line_within(const RankedLine& line, double y, double z, double radius) {
    const Range window = window_of(line, z, radius);
    const Range places = sorted_within(*line.y, y, capped_radius(radius, line.y_cap));
    return {placed_within(line, window, places), size(places), size(window)};
}

// Counts in (x, z) for the radii that are wanted. These are few of each point's eight, so they are put side by side.
[[gnu::noinline]] inline void count_beside_x(const LinePoints& points, const Range (*windows)[lanes],
                                             BatchCounts* counts) {
    const RankedLine& x = *points.beside_x;
    std::uint32_t radii[(block_size + 1) * lanes], at[(block_size + 1) * lanes];
    std::size_t many = 0;
    for (std::size_t p = 0; p < points.count; ++p) {
        compress(radii + many, positions_from(static_cast<std::uint32_t>(p * lanes)), points.wanted[p]);
        compress(at + many, broadcast_position(static_cast<std::uint32_t>(p)), points.wanted[p]);
        many += count(points.wanted[p]);
    }
    for (std::size_t i = many; i < many + lanes; ++i) radii[i] = at[i] = 0;
    for (std::size_t first = 0; first < many; first += lanes) {
        double center[lanes], radius[lanes], room[lanes];
        Range places[lanes];
        store(center, gather(points.x, load_positions(at + first)));
        store(radius, gather(points.radius, load_positions(radii + first)));
        each_within(
            x.y->cells, [&](std::size_t) -> const SortedLevels& { return *x.y; }, static_cast<const double*>(center),
            capped_radii(radius, x.y_cap, room), places);
        for (std::size_t i = first; i < many && i < first + lanes; ++i) {
            const std::size_t p = at[i], l = radii[i] % lanes;
            counts[p].xz[l] = static_cast<std::int64_t>(placed_within(x, windows[p][l], places[i - first])) - 1;
        }
    }
}

inline void batch_smaller(const RankedLines& lines, std::size_t columns, const double* y, std::uint32_t* out) {
    std::uint32_t cell[lanes];
    cells_of(*lines.cells, load(y), cell);
    for (std::size_t l = 0; l < columns; ++l)
        out[l] = static_cast<std::uint32_t>(smaller_in(*lines.line[l].y, y[l], cell[l]));
}

// First all searches, which overlap in the processor, then the loops of unforeseeable length, one column after another:
// so it stays in the nearest cache for all points, which are side by side.
inline void batch_line_within(const RankedLines& lines, std::size_t columns, const LinePoints& points,
                              BatchCounts* counts) {
    const RankedLine& any = lines.line[0];
    Range windows[block_size][lanes], places[block_size][lanes];
    for (std::size_t p = 0; p < points.count; ++p) {
        const double* const radius = points.radius + p * lanes;
        double room[lanes];
        if (any.z != nullptr)
            each_within(
                any.z->cells, [&](std::size_t) -> const SortedLevels& { return *any.z; }, points.z[p],
                capped_radii(radius, any.z_cap, room), windows[p]);
        else
            for (std::size_t l = 0; l < lanes; ++l) windows[p][l] = {0, lines.line[l].points};
        each_within(
            *lines.cells, [&](std::size_t l) -> const SortedLevels& { return *lines.line[l].y; }, points.y + p * lanes,
            capped_radii(radius, lines.y_caps, room), places[p]);
    }
    for (std::size_t l = 0; l < columns; ++l)
        for (std::size_t p = 0; p < points.count; ++p) {
            counts[p].z[l] = static_cast<std::int64_t>(size(windows[p][l])) - 1;
            counts[p].yz[l] = static_cast<std::int64_t>(placed_within(lines.line[l], windows[p][l], places[p][l])) - 1;
        }
    if (points.beside_x == nullptr) return;
    unsigned wanted = 0;
    for (std::size_t p = 0; p < points.count; ++p) wanted |= points.wanted[p];
    if (wanted != 0) count_beside_x(points, windows, counts);
}

}  // namespace knnmi::KNNMI_ISA
