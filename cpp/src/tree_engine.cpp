// The general engine: kd-trees over points of any number of columns.
#include <algorithm>
#include <optional>
#include <utility>

#include "engines.hpp"
#include "indicators.hpp"
#include "kd_tree.hpp"
#include "parallel.hpp"
#include "row_major.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

constexpr std::size_t points_in_a_blink = 5000;  // one y with more takes long enough for its points to be shared out

// Counts the other points within a radius of one of them: by binary search in a single column, else by a tree.
class RangeCounter {
public:
    explicit RangeCounter(RowMajor points) : points_(std::move(points)) {
        if (points_.columns() == 1) {
            sorted_.assign(points_[0], points_[0] + points_.rows());
            std::sort(sorted_.begin(), sorted_.end());
        } else {
            tree_.emplace(points_.view());
        }
    }

    std::uint32_t count(std::size_t row, double radius) const {
        if (tree_) return tree_->count(points_[row], radius) - 1;
        // The rounded difference, which is what a radius is compared with, is monotone too.
        const double center = *points_[row];
        const auto begin =
            std::partition_point(sorted_.begin(), sorted_.end(), [=](double value) { return center - value > radius; });
        const auto end =
            std::partition_point(begin, sorted_.end(), [=](double value) { return value - center <= radius; });
        return static_cast<std::uint32_t>(end - begin) - 1;
    }

private:
    RowMajor points_;
    std::vector<double> sorted_;
    std::optional<KdTree> tree_;
};

// Inside, a row is known by its position in a tree over z (over x when z is empty): what is near in memory is near in
// space.
class TreeEngine : public NeighborEngine {
public:
    TreeEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Options& options)
        : TreeEngine(with_indicators(x), with_indicators(z), neighborhood, options) {}

    void sums(const ColumnSource& source, std::size_t width, std::size_t first, std::span<Sum> out) override {
        // Threads share out the y's, or the points of one y after another; never both.
        const std::size_t threads = static_cast<std::size_t>(thread_count(options_));
        const bool by_y = out.size() >= threads && x_.rows() <= points_in_a_blink;
        const Options serial{.threads = 1};
        parallel_for(out.size(), by_y ? options_ : serial, [&](std::size_t i, int) {
            out[i] = sum(count(source, width, first + i, by_y ? serial : options_));
        });
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t width, std::size_t index) override {
        const NeighborCounts by_position = count(source, width, index, options_);
        NeighborCounts by_row = by_position;
        for (std::size_t i = 0; i < x_.rows(); ++i) {
            const std::size_t row = tree_.rows()[i];
            by_row.xz[row] = by_position.xz[i];
            by_row.yz[row] = by_position.yz[i];
            by_row.z[row] = by_position.z[i];
            if (terms_.mixed()) by_row.joint[row] = by_position.joint[i];
        }
        return by_row;
    }

private:
    TreeEngine(const RowMajor& x, const RowMajor& z, const Neighborhood& neighborhood, const Options& options)
        : k_(neighborhood.k),
          options_(options),
          tree_(z.columns() == 0 ? x.view() : z.view()),
          x_(x.view(), tree_.rows()),
          z_(z.view(), tree_.rows()),
          terms_(x.rows(), z.columns() > 0, neighborhood) {
        // Many points are near in few columns of z: then it is faster to count in one space after another.
        if (z.columns() <= 1) near_xz_.emplace(side_by_side({&x_, &z_}));
        if (z.columns() == 1) near_z_.emplace(z_);
    }

    NeighborCounts count(const ColumnSource& source, std::size_t width, std::size_t index,
                         const Options& options) const {
        const std::size_t n = x_.rows();
        RowMajor given(n, width);
        source.write(index, given.values());
        std::vector<unsigned char> categories(width);
        for (std::size_t j = 0; j < width; ++j) categories[j] = source.is_category(index, j);
        const RowMajor y(with_indicators(given.view().with_categories(categories.data())).view(), tree_.rows());
        std::vector<double> radius(n);
        NeighborCounts counts;
        counts.joint.resize(terms_.mixed() ? n : 0);
        measure(y, options, radius, counts.joint);
        counts.xz.resize(n);
        counts.yz.resize(n);
        counts.z.resize(n);
        if (near_xz_) {
            const RangeCounter near_yz(side_by_side({&y, &z_}));
            for_each_row(options, [&](std::size_t i) {
                counts.xz[i] = near_xz_->count(i, radius[i]);
                counts.yz[i] = near_yz.count(i, radius[i]);
                counts.z[i] = near_z_ ? near_z_->count(i, radius[i]) : static_cast<std::uint32_t>(n - 1);
            });
        } else {
            for_each_row(options, [&](std::size_t i) { count_near_z(i, y, radius[i], counts); });
        }
        return counts;
    }

    // Finds within which radius each point's neighbours are counted, and how many there are in the joint space.
    void measure(const RowMajor& y, const Options& options, std::vector<double>& radius,
                 std::vector<std::uint32_t>& neighbors) const {
        const RowMajor joint = side_by_side({&x_, &y, &z_});
        const KdTree tree(joint.view());
        parallel_runs(x_.rows(), options, [&](std::size_t begin, std::size_t end) {
            KSmallest nearest(k_);
            for (std::size_t p = begin; p < end; ++p) {
                end_if_stopped();
                const double rho = tree.kth_distance(p, nearest);
                const std::size_t i = tree.rows()[p];
                radius[i] = terms_.reach(rho);
                if (terms_.mixed()) neighbors[i] = tree.count(tree.points()[p], radius[i]) - 1;
            }
        });
    }

    // All three counts in one walk: of the few points near in z, it takes little to look at x and y too.
    void count_near_z(std::size_t i, const RowMajor& y, double radius, NeighborCounts& counts) const {
        const double *const xi = x_[i], *const yi = y[i], *const zi = z_[i];
        std::uint32_t xz = 0, yz = 0, z = 0;
        tree_.search(zi, radius, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) {
                if (distance(z_[j], zi, z_.columns()) > radius) continue;
                ++z;
                xz += distance(x_[j], xi, x_.columns()) <= radius;
                yz += distance(y[j], yi, y.columns()) <= radius;
            }
        });
        counts.xz[i] = xz - 1;
        counts.yz[i] = yz - 1;
        counts.z[i] = z - 1;
    }

    template <class Body>
    void for_each_row(const Options& options, const Body& body) const {
        parallel_runs(x_.rows(), options, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) body(i);
        });
    }

    Sum sum(const NeighborCounts& counts) const {
        Sum total = 0;
        for (std::size_t i = 0; i < x_.rows(); ++i)
            total += terms_(counts.xz[i], counts.yz[i], counts.z[i], terms_.mixed() ? counts.joint[i] : 0);
        return total;
    }

    int k_;
    Options options_;
    KdTree tree_;
    RowMajor x_, z_;
    Terms terms_;
    std::optional<RangeCounter> near_xz_, near_z_;  // with at most one column of z
};

}  // namespace

std::unique_ptr<NeighborEngine> make_tree_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                 const Options& options) {
    return std::make_unique<TreeEngine>(x, z, neighborhood, options);
}

}  // namespace knnmi
