// The neighbours of one point, in any order, and how many of them are near in y too: for columns that hold the same
// values, by their places, 32 columns at a time.
//
// A list in order is walked for eight columns at a time, as far as one of them needs it. Where most columns need most
// of a long list, it is faster not to put it in order, and to walk it to its end for 32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "neighbor_lists.hpp"

namespace knnmi {

class PlacedNeighbors {
public:
    // How many neighbours are worth it, where the radii of most columns are large, as measured.
    static constexpr std::size_t enough = 1024;

    // Counts within a radius for each column, eight for each batch; negative ones are of no account. Eight more
    // distances are written after those of the neighbours, and their positions must stay while they are counted.
    void rank(PointDistances neighbors, std::size_t count, std::span<const double> radius, const Kernels& kernels);

    // Of a batch's columns.
    const std::int64_t* within(std::size_t batch) const { return &within_[batch * batch_size]; }

    // The same with those also within the radius in y, of four batches from this one on.
    void count(const PlacedBatches& y, std::size_t self, std::size_t batch, const Kernels& kernels);
    const std::int64_t* within_y(std::size_t batch) const { return &within_y_[batch * batch_size % four_batches]; }

private:
    const std::uint32_t* position_ = nullptr;
    std::vector<std::uint16_t> ranks_;         // of the distances among the radii
    std::vector<double> radius_;               // of each column, in whole eights, with eight more
    std::vector<std::uint16_t> radius_ranks_;  // of these, in whole 32s
    std::vector<std::int64_t> within_;
    std::int64_t within_y_[four_batches]{};
    Neighbors radii_;
    std::vector<std::uint32_t> scratch_;
    std::vector<std::int64_t> of_rank_;
};

}  // namespace knnmi
