#include "fixed_side.hpp"

namespace knnmi {

FixedSide::FixedSide(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels)
    : kernels_(&kernels),
      k_(static_cast<std::size_t>(neighborhood.k)),
      order_(z.columns() >= 2 ? SpatialOrder({z}) : SpatialOrder({x, z})),
      geometry_(order_.geometry()),
      x_cap_(cap_of(x.is_category(0))),
      terms_(order_.points(), !z.empty(), neighborhood) {
    if (z.columns() >= 2) x_ = order_.arranged(x);
    if (z.columns() == 1) line_.emplace(z);
}

RankedColumn FixedSide::ranked(std::shared_ptr<const SortedColumn> other, std::span<const double> y,
                               double y_cap) const {
    return RankedColumn(std::move(other), line(), y, y_cap, *kernels_);
}

}  // namespace knnmi
