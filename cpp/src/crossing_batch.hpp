// Up to eight y's beside the same x, with the axis on which each point looks for its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "crossing.hpp"

namespace knnmi {

class CrossingBatch {
public:
    Crossing& operator[](std::size_t lane) { return crossings_[lane]; }

    // The first `columns` crossings side by side, with so many neighbours to look at. Where they have one axis of y, a
    // point looks along y if its neighbours are sparser there than along x, as fewer are then within its distances.
    void put_side_by_side(std::size_t columns, const Axis& x, const Axis* y, std::size_t most);

    // Along x and, if any point looks there, along y.
    std::span<const PlaneBatch> batches() const { return {batches_, along_y_ ? 2u : 1u}; }

private:
    // The other coordinate of each point by place on one axis, and the planes in which it looks along that axis.
    struct Side {
        AlignedVector<double> across;
        std::vector<std::uint8_t> looking;
    };

    bool send_to_sparser_axes(std::size_t columns, std::span<const double> x, std::span<const double> y);
    void fill(PlaneBatch& batch, Side& side, PlaneAxis Plane::* axis, std::size_t columns, std::size_t most) const;

    Crossing crossings_[batch_size];
    Plane planes_[batch_size];
    Side x_, y_;
    PlaneBatch batches_[2];
    bool along_y_ = false;
};

}  // namespace knnmi
