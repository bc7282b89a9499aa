// Constant columns of z are 0 apart everywhere: without them nothing is counted otherwise, and faster.
#pragma once

#include <vector>

#include "knnmi/points.hpp"

namespace knnmi {

class VaryingColumns {
public:
    explicit VaryingColumns(const Points& z);

    // The columns of z that are not constant, or the first one if all are. `z`, and this object, must outlive the view.
    Points points() const;

private:
    Points z_;
    std::vector<double> values_;  // column by column; empty if z has no constant column to leave out
    std::vector<unsigned char> categories_;
};

}  // namespace knnmi
