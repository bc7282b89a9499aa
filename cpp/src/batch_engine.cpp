// Many y columns share the work that depends on x and z alone. Each point gets one list of its neighbours in (x, z)
// and one in z, by distance, and eight columns at a time walk them in the lanes of a SIMD register. The points are
// taken in blocks of neighbours, whose lists touch the same rows of y.
#include <algorithm>
#include <limits>
#include <memory>

#include "batched_columns.hpp"
#include "engines.hpp"
#include "fixed_side.hpp"
#include "growing_radius.hpp"
#include "near_blocks.hpp"
#include "neighbor_lists.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

// One thread's way through the points of a block.
class BatchWalker {
public:
    BatchWalker(const FixedSide& fixed, const BatchedColumns& y)
        : fixed_(&fixed),
          kernels_(&fixed.kernels()),
          y_(&y),
          near_(fixed.geometry(), fixed.kernels()),
          room_(fixed.k() * 2 * batch_size) {}

    // Calls consume(position, batch, counts) for every batch, with the counts of the block's points from that
    // position on.
    template <class Consume>
    void walk(std::size_t block, const Consume& consume) {
        first_ = block * block_size;
        const std::size_t points = std::min(block_size, fixed_->points() - first_);
        find_nearest(block, points);
        if (!fixed_->counts_by_line())
            for (std::size_t p = 0; p < points; ++p) order_z(points_[p]);
        BatchCounts counts[block_size];
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            for (std::size_t p = 0; p < points; ++p) counts[p] = counts_within(p, b);
            consume(first_, b, std::span<const BatchCounts>(counts, points));
        }
    }

private:
    struct Point {
        Neighbors xz, z;
        double radius = 0.0;        // up to which they were collected
        double largest = 0.0;       // k-th distance over all columns
        AlignedVector<double> rho;  // k-th distances, eight for each batch
    };

    // All columns walk lists of one radius; few lists turn out to be too short.
    void find_nearest(std::size_t block, std::size_t points) {
        near_.move_to(block, guess_);
        const double start = guess_ > 0.0 ? guess_ : near_.side();
        for (std::size_t p = 0; p < points; ++p) {
            points_[p].rho.resize(y_->batches() * batch_size);
            points_[p].largest = 0.0;
            collect(p, start);
        }
        for (std::size_t b = 0; b < y_->batches(); ++b)
            for (std::size_t p = 0; p < points; ++p) batch_nearest(p, b);
        double sum = 0.0;
        for (std::size_t p = 0; p < points; ++p) {
            reach_all(p);
            sum += points_[p].largest;
        }
        guess_ = 1.1 * sum / static_cast<double>(points);  // as measured; flat within a quarter
    }

    // Collects farther out until no neighbour that is missing can be nearer than a k-th one; only the batches that this
    // concerns walk again.
    void reach_all(std::size_t p) {
        Point& point = points_[p];
        for (GrowingRadius radius(point.radius); point.largest > point.radius;) {
            const double before = point.radius;
            radius.grow(point.largest);
            collect(p, radius);
            point.largest = 0.0;
            for (std::size_t b = 0; b < y_->batches(); ++b) {
                const double* const rho = point.rho.data() + b * batch_size;
                const double largest = fixed_->terms().covering(*std::max_element(rho, rho + batch_size));
                if (largest > before)
                    batch_nearest(p, b);
                else
                    point.largest = std::max(point.largest, largest);
            }
        }
    }

    void collect(std::size_t p, double radius) {
        Point& point = points_[p];
        const std::span<const std::uint32_t> blocks = near_.within(first_ + p, radius);
        const PointQuery query{.geometry = &fixed_->geometry(),
                               .x = fixed_->x(),
                               .y = nullptr,
                               .x_cap = fixed_->x_cap(),
                               .y_cap = 0.0,
                               .self = first_ + p,
                               .blocks = blocks.data(),
                               .block_count = blocks.size(),
                               .distances = nullptr};
        const std::size_t capacity = blocks.size() * block_size;
        std::size_t found[2];
        kernels_->neighbors(query, radius, point.xz.reserve(capacity), point.z.reserve(capacity), found);
        point.xz.found(found[0]);
        point.xz.order(*kernels_, scratch_);
        point.z.found(found[1]);
        point.radius = radius;
    }

    void order_z(Point& point) {
        point.z.drop_beyond(point.largest, *kernels_);
        point.z.order(*kernels_, scratch_);
    }

    void batch_nearest(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        const double largest = kernels_->batch_nearest(point.xz.ordered(), y_->batch(b), first_ + p, fixed_->k(),
                                                       room_.data(), point.rho.data() + b * batch_size);
        point.largest = std::max(point.largest, fixed_->terms().covering(largest));
    }

    BatchCounts counts_within(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        const std::size_t self = first_ + p;
        double radius[batch_size];
        for (std::size_t l = 0; l < batch_size; ++l) radius[l] = fixed_->terms().reach(point.rho[b * batch_size + l]);
        BatchCounts n{};
        if (fixed_->terms().mixed())
            kernels_->batch_within_y(point.xz.ordered(), y_->batch(b), self, radius, n.xz, n.joint);
        else
            kernels_->batch_within(point.xz.ordered(), radius, n.xz);
        if (fixed_->counts_by_line()) {
            kernels_->batch_line_within(y_->lines(b), y_->columns_in(b), y_->batch(b).values + self * batch_size,
                                        fixed_->z(self), radius, n.z, n.yz);
        } else {
            kernels_->batch_within_y(point.z.ordered(), y_->batch(b), self, radius, n.z, n.yz);
        }
        if (point.largest == std::numeric_limits<double>::infinity()) count_everything(radius, n);
        return n;
    }

    // An infinite radius also reaches the infinities that fill the last block and the lists.
    void count_everything(const double* radius, BatchCounts& n) const {
        const auto others = static_cast<std::int64_t>(fixed_->points() - 1);
        for (std::size_t l = 0; l < batch_size; ++l)
            if (radius[l] == std::numeric_limits<double>::infinity()) n.xz[l] = n.yz[l] = n.z[l] = n.joint[l] = others;
    }

    const FixedSide* fixed_;
    const Kernels* kernels_;
    const BatchedColumns* y_;
    NearBlocks near_;
    AlignedVector<double> room_;
    std::vector<std::uint32_t> scratch_;
    Point points_[block_size];
    std::size_t first_ = 0;  // position of the block's first point
    double guess_ = 0.0;     // the radius to try first, from what the block before needed
};

class BatchEngine final : public NeighborEngine {
public:
    BatchEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                const Options& options)
        : fixed_(x, z, neighborhood, kernels), options_(options) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        const std::size_t most = most_columns();
        for (std::size_t done = 0; done < out.size(); done += most)
            chunk_sums(source, first + done, out.subspan(done, std::min(most, out.size() - done)));
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(fixed_.points());
        NeighborCounts result{none, none, none, {}};
        if (fixed_.terms().mixed()) result.joint = none;
        each_block(source, index, 1, [&](std::size_t first, std::size_t, std::span<const BatchCounts> counts, int) {
            for (std::size_t p = 0; p < counts.size(); ++p) {
                const std::uint32_t row = fixed_.order().rows()[first + p];
                result.xz[row] = static_cast<std::uint32_t>(counts[p].xz[0]);
                result.yz[row] = static_cast<std::uint32_t>(counts[p].yz[0]);
                result.z[row] = static_cast<std::uint32_t>(counts[p].z[0]);
                if (fixed_.terms().mixed()) result.joint[row] = static_cast<std::uint32_t>(counts[p].joint[0]);
            }
        });
        return result;
    }

private:
    // Columns in memory at a time: up to 32 MB of them, and at most 256.
    std::size_t most_columns() const {
        constexpr std::size_t bytes = std::size_t{32} << 20;
        const std::size_t fit = bytes / (fixed_.points() * sizeof(double)) / batch_size * batch_size;
        return std::clamp(fit, batch_size, std::size_t{256});
    }

    void chunk_sums(const ColumnSource& source, std::size_t first, std::span<Sum> out) {
        const auto threads = static_cast<std::size_t>(thread_count(options_));
        std::vector<std::vector<Sum>> partial(threads, std::vector<Sum>(out.size() + batch_size));
        each_block(source, first, out.size(),
                   [&](std::size_t, std::size_t batch, std::span<const BatchCounts> counts, int thread) {
                       add_terms(counts, partial[static_cast<std::size_t>(thread)].data() + batch * batch_size);
                   });
        std::fill(out.begin(), out.end(), Sum{0});
        for (const std::vector<Sum>& sums : partial)
            for (std::size_t j = 0; j < out.size(); ++j) out[j] += sums[j];
    }

    void add_terms(std::span<const BatchCounts> counts, Sum* sums) const {
        std::int64_t block[batch_size] = {};  // a block's terms are far from overflowing
        const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
        for (const BatchCounts& n : counts)
            for (std::size_t l = 0; l < batch_size; ++l)
                block[l] += fixed_.terms()(size(n.xz[l]), size(n.yz[l]), size(n.z[l]), size(n.joint[l]));
        for (std::size_t l = 0; l < batch_size; ++l) sums[l] += block[l];
    }

    // Calls consume(position, batch, counts, thread) once for every block and batch of columns.
    template <class Consume>
    void each_block(const ColumnSource& source, std::size_t first, std::size_t columns, const Consume& consume) {
        const BatchedColumns y(fixed_, source, first, columns, options_);
        std::vector<BatchWalker> walkers(static_cast<std::size_t>(thread_count(options_)), BatchWalker(fixed_, y));
        parallel_for(fixed_.geometry().blocks, options_, [&](std::size_t block, int thread) {
            BatchWalker& walker = walkers[static_cast<std::size_t>(thread)];
            walker.walk(block, [&](std::size_t position, std::size_t batch, std::span<const BatchCounts> counts) {
                consume(position, batch, counts, thread);
            });
        });
    }

    FixedSide fixed_;
    Options options_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_batch_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<BatchEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
