#include "neighbor_lists.hpp"

#include <algorithm>
#include <bit>

namespace knnmi {
namespace {

template <class Vector>
void grow(Vector& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
}

}  // namespace

PointDistances PointBuffer::reserve(std::size_t capacity) {
    grow(distance_, capacity + batch_size);
    grow(position_, capacity + batch_size);
    return arrays();
}

void Neighbors::order(const Kernels& kernels, std::vector<std::uint32_t>& scratch) {
    const std::size_t buckets = std::bit_ceil(count_ / 4 + 1);  // a few in each
    grow(scratch, buckets + count_ + batch_size);
    grow(floor_, count_ / batch_size + 1);
    chunks_ = kernels.order_by_distance(found_.arrays(), count_, buckets, scratch.data(), ordered_.reserve(count_),
                                        floor_.data());
}

}  // namespace knnmi
