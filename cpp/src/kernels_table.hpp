// The table of one instruction set; included at the end of each kernels_<instruction set>.cpp.
#include "column_kernels.hpp"
#include "columns_kernels.hpp"
#include "line_kernels.hpp"

namespace knnmi::KNNMI_ISA {

inline constexpr Kernels table(const char* name) {
    return {name, boxes_within, nearest, counts_within, rank, line_within, batch_line_within, neighbors, keep_within, order_by_distance, batch_nearest,
            batch_within, batch_within_y};
}

}  // namespace knnmi::KNNMI_ISA
