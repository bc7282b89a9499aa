// What the kernels read: plain pointers into arrays that others own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace knnmi {

inline constexpr std::size_t batch_size = 8;   // y columns handled at once
inline constexpr unsigned all_columns = 0xff;  // of them, as bits
inline constexpr std::size_t block_size = 16;  // points in a block
inline constexpr std::size_t group_size = 8;   // blocks in a group

// Values of a category are whole numbers. Cut off at this distance, they are 0 apart where equal and 1 where not.
inline constexpr double cap_of(bool is_category) { return is_category ? 1.0 : __builtin_inf(); }

// Bounding boxes of consecutive runs of points: side c of box b is [low[c * stride + b], high[c * stride + b]].
// Places past the last box hold infinity and are farther than any finite radius.
struct Boxes {
    const double* low;
    const double* high;
    std::size_t stride;
};

// A SpatialOrder. Coordinate c of position p is coordinates[c * stride + p], infinity for the positions that fill the
// last block.
struct Geometry {
    std::size_t dimensions, blocks, groups;
    const unsigned char* categories;  // by dimension
    const double* coordinates;
    std::size_t stride;
    Boxes block_boxes, group_boxes;
};

// Cells over a range of values: of equal width, or around a middle and on both sides twice as wide in each octave.
struct Cells {
    double origin, per_unit;  // the first value and one over the width, or the middle and one over the first octave
    double last;              // cell
    int shift = 0;            // of octaves: bits of a distance that make no difference within a cell
    std::int64_t before = 0;  // of octaves: cells below the middle

    // Monotone in the value, whatever it is. Inlined: a function of its own, made for a wider instruction set, could be
    // linked into a narrower one.
    [[gnu::always_inline]] std::size_t of(double value) const {
        const double units = (value - origin) * per_unit;
        if (shift == 0) return units > 0.0 ? static_cast<std::size_t>(units < last ? units : last) : 0;
        // The bits of a number from 1 on are evenly spread within an octave, and go on from one to the next.
        const std::int64_t bits = __builtin_bit_cast(std::int64_t, 1.0 + __builtin_fabs(units));
        const std::int64_t out = (bits - __builtin_bit_cast(std::int64_t, 1.0)) >> shift;
        const std::int64_t cell = before + (units < 0.0 ? -out : out);
        const auto most = static_cast<std::int64_t>(last);
        return cell > 0 ? static_cast<std::size_t>(cell < most ? cell : most) : 0;
    }
};

// A SortedColumn. level[0] holds its different values, level[levels - 1] at most eight. Runs are filled up with values
// that fail every comparison, and after level[0] there are eight more.
struct SortedLevels {
    static constexpr std::size_t most = 11;  // 8^11 = 2^33 values

    const double* values;  // all of them, ascending
    const double* level[most];
    std::size_t levels;
    const std::uint32_t* first;  // of each different value, the first place; null where they are all different
    const std::uint32_t*
        before_cell;  // for each cell, a different value just before its first; null where too many are in one
    Cells cells;
};

}  // namespace knnmi
