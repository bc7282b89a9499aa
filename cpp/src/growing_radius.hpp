#pragma once

#include <algorithm>

namespace knnmi {

// A guess that grows when it turns out too small, faster and faster: scales may differ by hundreds of orders of
// magnitude.
class GrowingRadius {
public:
    explicit GrowingRadius(double start) : radius_(start) {}
    operator double() const { return radius_; }

    // `bound` is a distance that is surely enough.
    void grow(double bound) {
        radius_ = radius_ > 0.0 ? std::min(bound, radius_ * factor_) : bound;
        factor_ *= factor_;
    }

private:
    double radius_;
    double factor_ = 1.5;
};

}  // namespace knnmi
