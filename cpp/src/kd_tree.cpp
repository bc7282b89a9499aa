#include "kd_tree.hpp"

#include <cmath>
#include <nanoflann.hpp>

namespace knnmi {
namespace {

constexpr std::size_t leaf_size = 16;  // 8 to 32 are equally fast

// What nanoflann sees of the points. Its splitter goes astray when a difference overflows or underflows, so it is shown
// neither very large nor very small values as they are. The search does not rely on where it splits.
class Coordinates {
public:
    explicit Coordinates(const Points& points) : points_(points) {}

    std::size_t kdtree_get_point_count() const { return points_.rows(); }
    double kdtree_get_pt(std::size_t row, std::size_t column) const {
        const double value = points_(row, column);
        return std::abs(value) < 0x1p-500 ? 0.0 : std::clamp(value, -0x1p1000, 0x1p1000);
    }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
        return false;
    }

private:
    Points points_;
};

// Only ever built: the metric is of no account.
using Builder =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L1_Adaptor<double, Coordinates>, Coordinates, -1, std::uint32_t>;

// Members were renamed in nanoflann 1.5.
template <class Built>
const auto& root_of(const Built& built) {
    if constexpr (requires { built.root_node_; }) {
        return *built.root_node_;
    } else {
        return *built.root_node;
    }
}

template <class Built>
const auto& order_of(const Built& built) {
    if constexpr (requires { built.vAcc_; }) {
        return built.vAcc_;
    } else {
        return built.vAcc;
    }
}

}  // namespace

KdTree::KdTree(const Points& points) {
    const Coordinates coordinates(points);
    const Builder built(static_cast<int>(points.columns()), coordinates,
                        nanoflann::KDTreeSingleIndexAdaptorParams(leaf_size));
    rows_ = order_of(built);
    points_ = RowMajor(points, rows_);
    nodes_.reserve(4 * points.rows() / leaf_size + 1);
    take(root_of(built));
}

// Adds a node and those below it. What bounds a child is read from its points, so the search is exact wherever
// nanoflann chose to split.
template <class BuiltNode>
void KdTree::take(const BuiltNode& built) {
    const std::size_t at = nodes_.size();
    nodes_.emplace_back();
    if (built.child1 == nullptr) {
        nodes_[at].begin = static_cast<std::uint32_t>(built.node_type.lr.left);
        nodes_[at].end = static_cast<std::uint32_t>(built.node_type.lr.right);
        return;
    }
    take(*built.child1);
    const std::size_t right = nodes_.size();
    take(*built.child2);

    Node& node = nodes_[at];
    node.right = static_cast<std::uint32_t>(right);
    node.begin = nodes_[at + 1].begin;
    node.end = nodes_.back().end;
    node.axis = static_cast<std::uint32_t>(built.node_type.sub.divfeat);
    node.left_end = -std::numeric_limits<double>::infinity();
    node.right_begin = std::numeric_limits<double>::infinity();
    for (std::size_t p = node.begin; p < node.end; ++p) {
        const double value = points_[p][node.axis];
        if (p < nodes_[right].begin) {
            node.left_end = std::max(node.left_end, value);
        } else {
            node.right_begin = std::min(node.right_begin, value);
        }
    }
}

int nanoflann_version() { return NANOFLANN_VERSION; }

double KdTree::kth_distance(std::size_t position, Smallest& nearest) const {
    const std::size_t columns = points_.columns();
    const double* const query = points_[position];
    nearest.clear();
    double radius = nearest.last();
    search(query, radius, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            const double d = distance(points_[p], query, columns);
            if (d < radius && p != position) {
                nearest.insert(d);
                radius = nearest.last();
            }
        }
    });
    return radius;
}

std::uint32_t KdTree::count(const double* query, double radius) const {
    const std::size_t columns = points_.columns();
    std::uint32_t found = 0;
    search(query, radius, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) found += distance(points_[p], query, columns) <= radius;
    });
    return found;
}

}  // namespace knnmi
