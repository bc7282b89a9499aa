// Fewer columns of z, between whose rows all distances are the same: less work, and nothing is counted otherwise.
#pragma once

#include <vector>

#include "knnmi/points.hpp"

namespace knnmi {

class FewerColumns {
public:
    // Leaves out constant columns, in which all rows are 0 apart. If `merge` is set, several categories become one
    // column of labels: rows that are not equal in all of them are 1 apart.
    FewerColumns(const Points& z, bool merge);

    // One column at least, if z has one. `z`, and this object, must outlive the view.
    Points points() const;

private:
    void add(const Points& column);
    void add_labels(const std::vector<std::size_t>& columns);

    Points z_;
    std::vector<double> values_;  // column by column; empty if z is as it was
    std::vector<unsigned char> categories_;
};

}  // namespace knnmi
