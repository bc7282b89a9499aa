// What a point adds to the sum behind an estimate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fixed_point.hpp"
#include "knnmi/estimators.hpp"
#include "radius.hpp"

namespace knnmi {

class Terms {
public:
    Terms(std::size_t points, bool with_z, const Neighborhood& neighborhood)
        : digamma_(points),
          mixed_(neighborhood.estimator == Estimator::mixed),
          z_self_(with_z ? 0 : 1),
          of_k_(digamma_[static_cast<std::size_t>(neighborhood.k)]) {}

    bool mixed() const { return mixed_; }

    // Within which radius neighbours are counted when the k-th is at distance rho.
    double reach(double rho) const { return mixed_ ? widened(rho) : shrunken(rho); }
    double reach() const { return reach(1.0); }  // of which the others are multiples

    // How far points must have been looked at for the k-th distance and the counts to be right.
    double covering(double rho) const { return mixed_ ? widened(rho) : rho; }

    // From counts without the point itself; `joint` is of the mixed estimator only.
    std::int64_t operator()(std::size_t xz, std::size_t yz, std::size_t z, std::size_t joint) const {
        if (!mixed_) return digamma_[xz + 1] + digamma_[yz + 1] - digamma_[z + 1];
        // The digamma of the number of neighbours, where the other estimator has one more and k for the joint space.
        // Without z every point is near, this one too.
        return digamma_[xz] + digamma_[yz] - digamma_[z + z_self_] - digamma_[joint] + of_k_;
    }

private:
    DigammaTable digamma_;
    bool mixed_;
    std::size_t z_self_;
    std::int64_t of_k_;
};

}  // namespace knnmi
