// The table of one instruction set; included at the end of each <instruction set>.cpp.
#include "kernels/along.hpp"
#include "kernels/batch.hpp"
#include "kernels/boxes.hpp"
#include "kernels/by_place.hpp"
#include "kernels/line.hpp"
#include "kernels/philox.hpp"
#include "kernels/placed.hpp"
#include "kernels/plane.hpp"
#include "kernels/plane_batch.hpp"
#include "kernels/single.hpp"
#include "kernels/space.hpp"

namespace knnmi::KNNMI_ISA {

inline constexpr Kernels table(const char* name) {
    return {.name = name,
            .most_batched = most_in_registers,
            .philox_blocks = philox_blocks,
            .boxes_within = boxes_within,
            .nearest = nearest,
            .counts_within = counts_within,
            .joint_within = joint_within,
            .rank = rank,
            .line_within = line_within,
            .batch_line_within = batch_line_within,
            .batch_smaller = batch_smaller,
            .plane_within = plane_within,
            .plane_batch_within = plane_batch_within,
            .space_near = space_near,
            .space_within = space_within,
            .neighbors = neighbors,
            .keep_within = keep_within,
            .order_by_distance = order_by_distance,
            .batch_nearest = batch_nearest,
            .nearest_by_place = nearest_by_place,
            .within_by_place = within_by_place,
            .nearest_along = nearest_along,
            .within_along = within_along,
            .within_boxes = within_boxes,
            .batch_radii = batch_radii,
            .batch_within = batch_within,
            .batch_within_run = batch_within_run,
            .batch_within_y = batch_within_y,
            .ranks_among = ranks_among,
            .placed_within = placed_within,
            .philox = philox};
}

}  // namespace knnmi::KNNMI_ISA
