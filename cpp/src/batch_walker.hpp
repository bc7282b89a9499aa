// Many y beside the same x and z: what one thread finds near the points of a block. Each point has one list of its
// neighbours in (x, z) and one in z, by distance, and eight columns at a time walk them in the lanes of a SIMD
// register. What is known of values far out is not looked for again. Another y that would need a longer list than most
// is searched by itself: with one column in z along its own values, with more where values lie far out. What is near in
// z and y may be counted for 32 columns at a time, in a list that is not in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "along_y.hpp"
#include "batched_columns.hpp"
#include "far_neighbors.hpp"
#include "far_values.hpp"
#include "fixed_side.hpp"
#include "kernels/kernels.hpp"
#include "near_blocks.hpp"
#include "neighbor_lists.hpp"
#include "parallel.hpp"
#include "placed_neighbors.hpp"

namespace knnmi {

class BatchWalker {
public:
    // `along_y` and `far` are null where no y is searched by itself, and `far_values` where no value is far out.
    BatchWalker(const FixedSide& fixed, const BatchedColumns& y, const AlongY* along_y, const FarNeighbors* far,
                const FarValues* far_values);

    // Calls consume(position, batch, counts) for every batch, with the counts of the block's points from that
    // position on.
    template <class Consume>
    void walk(std::size_t block, const Consume& consume) {
        first_ = block * block_size;
        const std::size_t points = std::min(block_size, fixed_->points() - first_);
        find_nearest(block, points);
        if (!fixed_->counts_by_line())
            for (std::size_t p = 0; p < points; ++p) prepare_z(p);
        for (std::size_t b = 0; b < y_->batches(); ++b) consume(first_, b, counts_of(points, b));
    }

private:
    struct NearSet {
        std::size_t number;
        double distance;
        bool own;  // holds the point itself
    };

    struct Point {
        Neighbors xz, z;
        double radius = 0.0;          // up to which they were collected
        AlignedVector<double> rho;    // k-th distances, eight for each batch
        std::vector<unsigned> alone;  // for each batch, the columns that are searched by themselves, as bits
        std::vector<double> covered;  // and how far points must be looked at for all others
        double listed_to = 0.0;       // with FarNeighbors: up to which both lists hold all points
        struct Beyond {
            std::uint32_t xz, z;
        };
        std::vector<Beyond> beyond;  // what is near the columns with radii beyond that
        bool by_places = false;      // whether the list in z is in no order, and counted by places in y
        PlacedNeighbors placed;
        std::vector<NearSet> sets_in_z, sets_in_xz;  // that are near, whose points are in no list
    };

    // All columns walk the list of a point; few lists turn out to be too short.
    void find_nearest(std::size_t block, std::size_t points);

    // For the next block.
    double learnt_radius(std::size_t points);

    // A list of so many points at most that the y's that need more have few points near along y.
    void collect_enough(std::size_t p, double start);

    // Points in (x, z), with those of sets.
    std::size_t listed(const Point& point) const;

    // The columns of a batch whose distance at a point is known before any list, as bits.
    unsigned known(std::size_t p, std::size_t b) const {
        return far_values_ != nullptr ? far_values_->known(first_ + p, b) : 0;
    }
    void take_known(std::size_t points);

    // For a list that would have served all columns, or have been long enough.
    double radius_for_most(const Point& point) const;

    // How far points must be looked at for the columns that lists serve.
    double needed(std::size_t p) { return far_ != nullptr ? needed_by(p, served_) : farthest_covered(points_[p]); }

    // The same for a share of the columns, and whether they are.
    double needed_by(std::size_t p, double share);
    bool reaches(std::size_t p, double share);

    // The k-th distances of all columns whose distance is searched for; and of these, which is the last of a share.
    void find_searched(std::size_t p);
    std::ptrdiff_t last_of(double share) const;

    // Which share of the columns lists should serve in the next block, by what would have been best for this point.
    // Costs are in nanoseconds, roughly as measured; they are no part of any answer.
    void choose_served(std::size_t p);

    // Collects farther out; only the batches that this concerns walk again.
    void reach(std::size_t p, double radius);

    // Until no neighbour that is missing can be nearer than a k-th one.
    void reach_most(std::size_t p);

    // Collects farther out where this costs less than the search along y of the columns that need it. Costs are in
    // nanoseconds, roughly as measured; they are no part of any answer.
    void reach_some(std::size_t p);

    void search_along_y(std::size_t p);

    // A list serves all that cannot be searched along y.
    void search_far(std::size_t p);

    static double farthest_covered(const Point& point) {
        return *std::max_element(point.covered.begin(), point.covered.end());
    }

    static bool is_alone(const Point& point, std::size_t b, std::size_t lane) {
        return (point.alone[b] >> lane & 1u) != 0;
    }

    // For all columns but some.
    void cover(std::size_t p, std::size_t b, unsigned without);

    void collect(std::size_t p, double radius);

    // False, and nothing is changed, if the list would be so long that each y is better searched by itself.
    bool find(std::size_t p, double radius);

    // Blocks near a point: in z, those of no set; and in (x, z), those of sets that are equal in z only.
    struct Near {
        std::span<const std::uint32_t> apart, in_sets;
    };

    // Notes the sets that are near.
    Near apart_from_sets(Point& point, std::size_t p, double radius, std::span<const std::uint32_t> blocks);

    // The list in z, for the counts.
    void prepare_z(std::size_t p);

    void batch_nearest(std::size_t p, std::size_t b);

    // Adds the distances to the k nearest of a set of points equal in (x, z), which are those nearest in y. Returns the
    // largest of these.
    double nearest_in_set(const NearSet& set, std::size_t p, std::size_t b);

    std::span<const BatchCounts> counts_of(std::size_t points, std::size_t b);
    // What lists tell; with one column in z, the rest comes from lines.
    void count_in_lists(std::size_t p, std::size_t b);

    // The radii of a batch, and those up to which the lists hold all points, else -1. Returns the columns with
    // -1, as bits.
    unsigned radii(const Point& point, std::size_t b, double* radius, double* listed) const;

    // Adds the points of a set for the columns whose radius reaches it, and how many of them are also near in y.
    void count_set(const NearSet& set, std::size_t b, std::size_t self, const double* radius, std::int64_t* in_set,
                   std::int64_t* in_y) const;

    // In the joint space, for columns whose radius the list does not reach.
    void count_along_y(std::size_t p, std::size_t b, unsigned columns, const double* radius, BatchCounts& n) const;

    // For columns whose radius the lists do not reach, with z of two or more columns: in x and z.
    void count_beyond(std::size_t p);
    // In all spaces.
    void count_far(std::size_t p, std::size_t b, unsigned columns, const double* radius, BatchCounts& n) const;

    // An infinite radius also reaches the infinities that fill the last block and the lists.
    void count_everything(const double* radius, BatchCounts& n) const;

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr int most_tries = 20;

    const FixedSide* fixed_;
    const Kernels* kernels_;
    const BatchedColumns* y_;
    const AlongY* along_y_;
    const FarNeighbors* far_;
    const FarValues* far_values_;
    RankedLine x_line_{};  // x along the line
    NearBlocks near_;
    AlignedVector<double> room_;
    std::size_t sampled_;  // every so many columns, and points, tell how far lists should reach
    std::vector<double> sorted_, listed_;
    std::vector<std::pair<double, std::size_t>> far_columns_;
    std::vector<double> far_radii_;
    std::vector<std::uint32_t> far_xz_, far_z_;
    std::vector<double> alone_;  // cost of searching each column by itself
    double served_ = 1.0;
    std::size_t enough_ = 0;  // points in a list
    std::size_t patience_ = no_end;
    std::size_t longest_ = std::numeric_limits<std::size_t>::max();  // list, in places of its blocks
    std::vector<std::uint32_t> scratch_, blocks_apart_, blocks_in_sets_;
    std::vector<double> nearest_in_sets_;
    PointBuffer in_sets_;  // what is found of sets in z, which is not needed
    Point points_[block_size];
    BatchCounts counts_[block_size]{};
    double radius_[block_size][batch_size]{};
    unsigned beyond_[block_size]{};  // the columns that lists do not serve, as bits
    std::size_t first_ = 0;          // position of the block's first point
    double guess_ = 0.0;             // the radius to try first, from what the block before needed
};

}  // namespace knnmi
