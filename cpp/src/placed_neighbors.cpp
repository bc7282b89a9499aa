#include "placed_neighbors.hpp"

#include <algorithm>
#include <numeric>

namespace knnmi {

void PlacedNeighbors::rank(PointDistances neighbors, std::size_t count, std::span<const double> radius,
                           const Kernels& kernels) {
    radius_.assign(radius.begin(), radius.end());
    radius_.resize(radius.size() + batch_size);
    const PointDistances radii = radii_.reserve(radius.size());
    std::size_t many = 0;
    for (const double each : radius) {
        if (each < 0.0) continue;
        radii.distance[many] = each;
        radii.position[many++] = 0;
    }
    radii_.found(many);
    radii_.order(kernels, scratch_);
    std::fill_n(neighbors.distance + count, batch_size, 0.0);
    position_ = neighbors.position;
    ranks_.resize(count);
    radius_ranks_.assign((radius.size() + four_batches - 1) / four_batches * four_batches, 0);
    kernels.ranks_among(radii_.ordered(), neighbors.distance, count, ranks_.data());
    kernels.ranks_among(radii_.ordered(), radius_.data(), radius.size(), radius_ranks_.data());

    of_rank_.assign(many + 1, 0);
    for (const std::uint16_t rank : ranks_) ++of_rank_[rank];
    std::partial_sum(of_rank_.begin(), of_rank_.end(), of_rank_.begin());
    within_.resize(radius.size());
    for (std::size_t j = 0; j < radius.size(); ++j) within_[j] = of_rank_[radius_ranks_[j]];
}

void PlacedNeighbors::count(const PlacedBatches& y, std::size_t self, std::size_t batch, const Kernels& kernels) {
    const std::size_t column = batch * batch_size;
    kernels.placed_within({position_, ranks_.data(), ranks_.size()}, y, self, &radius_[column], &radius_ranks_[column],
                          within_y_);
}

}  // namespace knnmi
