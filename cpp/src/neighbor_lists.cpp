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

PointBuffer PointBuffer::first(std::size_t count) const {
    PointBuffer part;
    const auto end = static_cast<std::ptrdiff_t>(count);
    part.distance_.assign(distance_.begin(), distance_.begin() + end);
    part.position_.assign(position_.begin(), position_.begin() + end);
    return part;
}

Neighbors Neighbors::kept() const {
    Neighbors copy;
    copy.ordered_ = ordered_.first(chunks_ * batch_size);
    copy.chunks_ = chunks_;
    copy.floor_.assign(floor_.begin(), floor_.begin() + static_cast<std::ptrdiff_t>(chunks_));
    return copy;
}

void Neighbors::order(const Kernels& kernels, std::vector<std::uint32_t>& scratch) {
    const std::size_t buckets = std::bit_ceil(count_ / 4 + 1);  // a few in each
    grow(scratch, buckets + count_ + batch_size);
    grow(floor_, count_ / batch_size + 1);
    chunks_ = kernels.order_by_distance(found_.arrays(), count_, buckets, scratch.data(), ordered_.reserve(count_),
                                        floor_.data());
}

}  // namespace knnmi
