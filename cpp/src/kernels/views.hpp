// What the kernels read: plain pointers into arrays that others own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace knnmi {

inline constexpr std::size_t batch_size = 8;                 // y columns handled at once
inline constexpr unsigned all_columns = 0xff;                // of them, as bits
inline constexpr std::size_t four_batches = 4 * batch_size;  // of which places are looked at at once
inline constexpr std::size_t block_size = 16;                // points in a block
inline constexpr std::size_t group_size = 8;                 // blocks in a group

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

// Cells over a range of values, around a middle and on both sides twice as wide in each octave. The first octave is
// from 0 to 1 away from the middle, in units of its own width.
struct Cells {
    double middle, per_unit;
    double first, last;           // the range, in units
    std::uint32_t shift, before;  // as in octave_steps; how many cells are below the middle

    // Monotone in the value, whatever it is. Inlined: a function of its own, made for a wider instruction set, could be
    // linked into a narrower one.
    [[gnu::always_inline]] std::uint32_t of(double value) const {
        const double any = (value - middle) * per_unit;
        const double units = any > first ? (any < last ? any : last) : first;
        // The bits of a number from 1 on are evenly spread within an octave, and go on from one to the next.
        const std::uint64_t octaves =
            __builtin_bit_cast(std::uint64_t, 1.0 + __builtin_fabs(units)) - __builtin_bit_cast(std::uint64_t, 1.0);
        const std::uint32_t steps = static_cast<std::uint32_t>(octaves >> 32) >> shift;
        return before + (__builtin_signbit(units) ? ~steps : steps);
    }
};

// Those of eight columns side by side.
struct BatchCells {
    double middle[batch_size], per_unit[batch_size], first[batch_size], last[batch_size];
    std::uint32_t shift[batch_size], before[batch_size];
};

// A SortedColumn. level[0] holds its different values, level[levels - 1] at most eight. Runs are filled up with values
// that fail every comparison, and after level[0] there are eight more; before it is minus infinity.
struct SortedLevels {
    static constexpr std::size_t most = 11;  // 8^11 = 2^33 values

    const double* values;  // all of them, ascending
    const double* level[most];
    std::size_t levels;
    const std::uint32_t* first;        // of each different value, the first place; null where they are all different
    const std::uint32_t* before_cell;  // for each cell, how many different values are in those before it
    Cells cells;                       // one, where too many values would be in some of them
};

}  // namespace knnmi
