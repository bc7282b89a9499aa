// Counts in z and in (y, z) when z has at most one column.
#pragma once

#include "kernels/common.hpp"

namespace knnmi::KNNMI_ISA {

inline bool rank(const SortedLevels& sorted, const double* values, std::size_t n, std::uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const Doubles value = broadcast(values[i]);
        const std::size_t smaller = partition_point(sorted, [=](Doubles v) { return less(v, value); });
        if (smaller == n || sorted.level[0][smaller] != values[i]) return false;
        out[i] = static_cast<std::uint32_t>(smaller);
    }
    return true;
}

inline std::size_t size(Range range) { return range.end - range.begin; }

// Points in the window of z that have their rank in the range.
inline std::size_t ranked_within(const RankedLine& line, Range window, Range ranks) {
    if (line.ranks == nullptr) return size(ranks);
    return count_between(line.ranks + window.begin, size(window), static_cast<std::uint32_t>(ranks.begin),
                         static_cast<std::uint32_t>(size(ranks)));
}

// Of a category everything is within a radius of 1.
inline double capped_radius(double radius, double cap) { return radius < cap ? radius : __builtin_inf(); }

inline Range window_of(const RankedLine& line, double z, double radius) {
    return line.z == nullptr ? Range{0, line.points} : sorted_within(*line.z, z, capped_radius(radius, line.z_cap));
}

inline LineCounts line_within(const RankedLine& line, double y, double z, double radius) {
    const Range window = window_of(line, z, radius);
    return {ranked_within(line, window, sorted_within(*line.y, y, capped_radius(radius, line.y_cap))), size(window)};
}

// First all searches, which overlap in the processor, then the loops of unforeseeable length.
inline void batch_line_within(const RankedLine* lines, std::size_t columns, const double* y, double z,
                              const double* radius, std::int64_t* in_z, std::int64_t* in_yz) {
    Range window[lanes], ranks[lanes];
    for (std::size_t l = 0; l < columns; ++l) {
        window[l] = window_of(lines[l], z, radius[l]);
        ranks[l] = sorted_within(*lines[l].y, y[l], capped_radius(radius[l], lines[l].y_cap));
    }
    for (std::size_t l = 0; l < columns; ++l) {
        in_z[l] = static_cast<std::int64_t>(size(window[l])) - 1;
        in_yz[l] = static_cast<std::int64_t>(ranked_within(lines[l], window[l], ranks[l])) - 1;
    }
}

}  // namespace knnmi::KNNMI_ISA
