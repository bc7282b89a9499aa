// A kd-tree for the max norm, built by nanoflann and searched here.
//
// nanoflann's own search bounds the distance to a branch by the sum of the distances along the axes. For the max norm
// that is too much, and it passes over branches that hold neighbours. Here a branch is bounded by the largest of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "row_major.hpp"

namespace knnmi {

// The k smallest of the values seen; infinity where there were fewer.
class KSmallest {
public:
    explicit KSmallest(int k) : k_(static_cast<std::size_t>(k)) { clear(); }

    void clear() {
        values_.assign(k_, std::numeric_limits<double>::infinity());
        bound_ = values_.back();
    }

    // Not below the k-th smallest, and equal to it for small k. Larger values make no difference.
    double bound() const { return bound_; }

    void insert(double value) {  // below bound()
        if (k_ > most_in_order) {
            values_.push_back(value);
            if (values_.size() == 2 * k_) bound_ = kth();
            return;
        }
        std::size_t at = k_ - 1;
        for (; at > 0 && values_[at - 1] > value; --at) values_[at] = values_[at - 1];
        values_[at] = value;
        bound_ = values_.back();
    }

    double kth() {
        if (values_.size() > k_) {
            std::nth_element(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), values_.end());
            values_.resize(k_);
        }
        return k_ > most_in_order ? values_[k_ - 1] : bound_;
    }

private:
    static constexpr std::size_t most_in_order = 32;  // more are selected from time to time, at a constant cost each

    std::size_t k_;
    double bound_;
    std::vector<double> values_;
};

// Points are known by their position, which is their place in the order of the leaves: near positions hold near points.
class KdTree {
public:
    explicit KdTree(const Points& points);

    const std::vector<std::uint32_t>& rows() const { return rows_; }  // the row at each position
    const RowMajor& points() const { return points_; }                // by position

    // Calls leaf(begin, end) with runs of positions that together hold every point within `radius` of `query`, which is
    // one of the points; `leaf` may lower the radius.
    template <class Leaf>
    void search(const double* query, double& radius, Leaf&& leaf) const {
        search(0, 0.0, query, radius, leaf);
    }

    // The distance from the point at `position` to its k-th neighbour, itself excluded, where `nearest` keeps k.
    double kth_distance(std::size_t position, KSmallest& nearest) const;

    // Points within `radius` of a query.
    std::uint32_t count(const double* query, double radius) const { return count(0, query, radius); }

private:
    struct Node {
        // Of an inner node: along `axis`, the points of the left child are at most `left_end` and those of the right
        // child at least `right_begin`. The left child follows its parent.
        double left_end, right_begin;
        std::uint32_t axis;
        std::uint32_t right;  // 0 in a leaf
        std::uint32_t begin, end;
    };

    // The box around a node's points.
    double* low(std::size_t at) { return boxes_.data() + 2 * at * points_.columns(); }
    double* high(std::size_t at) { return low(at) + points_.columns(); }
    const double* low(std::size_t at) const { return boxes_.data() + 2 * at * points_.columns(); }
    const double* high(std::size_t at) const { return low(at) + points_.columns(); }

    template <class BuiltNode>
    void take(const BuiltNode& built);

    void widen(std::size_t at, const double* low_end, const double* high_end);
    std::uint32_t count(std::uint32_t at, const double* query, double radius) const;
    bool lies_within(std::uint32_t at, const double* query, double radius) const;

    template <class Leaf>
    void search(std::uint32_t at, double bound, const double* query, double& radius, Leaf& leaf) const {
        const Node& node = nodes_[at];
        if (node.right == 0) return leaf(node.begin, node.end);
        const double value = query[node.axis];
        const double to_left = value - node.left_end, to_right = node.right_begin - value;
        const bool left_first = to_left < to_right;
        search(left_first ? at + 1 : node.right, bound, query, radius, leaf);
        bound = std::max(bound, left_first ? to_right : to_left);
        if (bound <= radius) search(left_first ? node.right : at + 1, bound, query, radius, leaf);
    }

    std::vector<std::uint32_t> rows_;
    RowMajor points_;
    std::vector<Node> nodes_;
    std::vector<double> boxes_;  // node by node: the low ends, then the high ends
};

int nanoflann_version();  // 0xMMmmpp

}  // namespace knnmi
