// The neighbours of one point, by distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "kernels/kernels.hpp"

namespace knnmi {

// Neighbours in no order; grows, and keeps its memory.
class PointBuffer {
public:
    // Room for `capacity` neighbours and the eight more that kernels may overwrite.
    PointDistances reserve(std::size_t capacity);

    PointDistances arrays() { return {distance_.data(), position_.data()}; }

private:
    AlignedVector<double> distance_;
    AlignedVector<std::uint32_t> position_;
};

// Neighbours as a kernel finds them, and in order once they are wanted so.
class Neighbors {
public:
    PointDistances reserve(std::size_t capacity) { return found_.reserve(capacity); }
    void found(std::size_t count) { count_ = count; }
    std::size_t size() const { return count_; }
    PointDistances unordered() { return found_.arrays(); }  // with room for eight more
    // A distance within which about so many are, by a sample of them, which is written to `scratch`.
    double distance_within_which(std::size_t wanted, std::vector<double>& scratch);

    void drop_beyond(double radius, const Kernels& kernels) {
        count_ = kernels.keep_within(found_.arrays(), count_, radius);
    }

    void order(const Kernels& kernels, std::vector<std::uint32_t>& scratch);

    const NeighborList& ordered() const { return list_; }

private:
    PointBuffer found_, ordered_;
    std::size_t count_ = 0;
    AlignedVector<double> floor_;
    std::vector<std::uint32_t> begin_;
    NeighborList list_{};  // points into the others; a copy must be ordered anew
};

}  // namespace knnmi
