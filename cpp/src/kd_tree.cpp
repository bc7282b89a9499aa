#include "kd_tree.hpp"

#include <nanoflann.hpp>

namespace knnmi {
namespace {

constexpr std::size_t leaf_size = 16;  // 8 to 32 are equally fast

// Points for nanoflann to split. Its splitter goes astray, in some versions beyond the end of an array, when a
// difference overflows, or when more points than fit a leaf coincide or differ by subnormal numbers only. So values are
// bounded, and points have one more coordinate, in which all differ: so little that they are split along it only where
// they do not differ otherwise. The search does not rely on where the points were split.
RowMajor split_points(const Points& points) {
    RowMajor split(points.rows(), points.columns() + 1);
    for (std::size_t i = 0; i < points.rows(); ++i) {
        for (std::size_t j = 0; j < points.columns(); ++j) split[i][j] = std::clamp(points(i, j), -0x1p1000, 0x1p1000);
        split[i][points.columns()] = static_cast<double>(i) * 0x1p-900;
    }
    return split;
}

struct Coordinates {
    const RowMajor& points;

    std::size_t kdtree_get_point_count() const { return points.rows(); }
    double kdtree_get_pt(std::size_t row, std::size_t column) const { return points[row][column]; }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
        return false;
    }
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
    const RowMajor split = split_points(points);
    const Coordinates coordinates{split};
    const Builder built(static_cast<int>(split.columns()), coordinates,
                        nanoflann::KDTreeSingleIndexAdaptorParams(leaf_size));
    rows_ = order_of(built);
    points_ = RowMajor(points, rows_);
    nodes_.reserve(4 * points.rows() / leaf_size + 1);
    take(root_of(built));
}

// Adds a node and those below it. What bounds a node is read from its points, so the search is exact wherever nanoflann
// chose to split.
template <class BuiltNode>
void KdTree::take(const BuiltNode& built) {
    const std::size_t at = nodes_.size(), columns = points_.columns();
    nodes_.emplace_back();
    boxes_.resize(boxes_.size() + 2 * columns);
    if (built.child1 == nullptr) {
        nodes_[at].begin = static_cast<std::uint32_t>(built.node_type.lr.left);
        nodes_[at].end = static_cast<std::uint32_t>(built.node_type.lr.right);
        std::copy_n(points_[nodes_[at].begin], columns, low(at));
        std::copy_n(points_[nodes_[at].begin], columns, high(at));
        for (std::size_t p = nodes_[at].begin + 1; p < nodes_[at].end; ++p) widen(at, points_[p], points_[p]);
        return;
    }
    take(*built.child1);
    const std::size_t right = nodes_.size();
    take(*built.child2);

    std::copy_n(low(at + 1), 2 * columns, low(at));
    widen(at, low(right), high(right));
    Node& node = nodes_[at];
    node.right = static_cast<std::uint32_t>(right);
    node.begin = nodes_[at + 1].begin;
    node.end = nodes_.back().end;
    // Along the coordinate of the splitter's own any axis is as good: the points hardly differ.
    const auto axis = static_cast<std::size_t>(built.node_type.sub.divfeat);
    node.axis = static_cast<std::uint32_t>(axis == columns ? 0 : axis);
    node.left_end = high(at + 1)[node.axis];
    node.right_begin = low(right)[node.axis];
}

void KdTree::widen(std::size_t at, const double* low_end, const double* high_end) {
    for (std::size_t j = 0; j < points_.columns(); ++j) {
        low(at)[j] = std::min(low(at)[j], low_end[j]);
        high(at)[j] = std::max(high(at)[j], high_end[j]);
    }
}

int nanoflann_version() { return NANOFLANN_VERSION; }

double KdTree::kth_distance(std::size_t position, KSmallest& nearest) const {
    const std::size_t columns = points_.columns();
    const double* const query = points_[position];
    nearest.clear();
    double radius = nearest.bound();
    search(query, radius, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            const double d = distance(points_[p], query, columns);
            if (d < nearest.bound() && p != position) {
                nearest.insert(d);
                // Points as far as the k-th make no difference: where many coincide, few are looked at.
                radius = std::nextafter(nearest.bound(), -1.0);
            }
        }
    });
    return nearest.kth();
}

std::uint32_t KdTree::count(std::uint32_t at, const double* query, double radius) const {
    const Node& node = nodes_[at];
    if (lies_within(at, query, radius)) return node.end - node.begin;
    std::uint32_t found = 0;
    if (node.right == 0) {
        for (std::size_t p = node.begin; p < node.end; ++p)
            found += distance(points_[p], query, points_.columns()) <= radius;
        return found;
    }
    const double value = query[node.axis];
    if (value - node.left_end <= radius) found += count(at + 1, query, radius);
    if (node.right_begin - value <= radius) found += count(node.right, query, radius);
    return found;
}

// Rounded differences are monotone too: that from an end of the box is not below that from a point inside.
bool KdTree::lies_within(std::uint32_t at, const double* query, double radius) const {
    for (std::size_t j = 0; j < points_.columns(); ++j)
        if (query[j] - low(at)[j] > radius || high(at)[j] - query[j] > radius) return false;
    return true;
}

}  // namespace knnmi
