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

double Neighbors::distance_within_which(std::size_t wanted, std::vector<double>& scratch) {
    constexpr std::size_t step = 8;
    const double* const distances = found_.arrays().distance;
    scratch.clear();
    for (std::size_t i = 0; i < count_; i += step) scratch.push_back(distances[i]);
    const auto at = scratch.begin() + static_cast<std::ptrdiff_t>(std::min(wanted / step, scratch.size() - 1));
    std::nth_element(scratch.begin(), at, scratch.end());
    return *at;
}

void Neighbors::order(const Kernels& kernels, std::vector<std::uint32_t>& scratch) {
    const std::size_t buckets = std::bit_ceil(count_ / 4 + 1);  // a few in each
    grow(scratch, count_ + batch_size);
    grow(floor_, count_ / batch_size + 1);
    grow(begin_, buckets + 1);
    list_ = kernels.order_by_distance(found_.arrays(), count_, buckets, scratch.data(),
                                      ordered_.reserve(count_ + batch_size), floor_.data(), begin_.data());
}

}  // namespace knnmi
