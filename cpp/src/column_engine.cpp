// One y column at a time. The points are ordered by z (by x when z is empty); a point's distances to the blocks near it are
// kept in a row, from which both the k-th neighbour and the counts are read.
#include <algorithm>
#include <numeric>

#include "engines.hpp"
#include "kernels.hpp"
#include "near_blocks.hpp"
#include "parallel.hpp"
#include "radius.hpp"

namespace knnmi {
namespace {

struct PointCounts {
    std::size_t xz, yz, z;  // the point itself not included
};

// One thread's way through the points of a block, for one y column.
class Walker {
public:
    // `x` is null when the order is that of x itself, and `sorted_y` matters only then.
    Walker(const Kernels& kernels, const Geometry& geometry, const double* x, const double* y, const SortedLevels& sorted_y,
           std::size_t k)
        : kernels_(&kernels), geometry_(geometry), x_(x), y_(y), sorted_y_(sorted_y), k_(k), near_(geometry, kernels),
          room_((k + 1) * batch_size) {}

    // Calls consume(position, counts) for every point of the block.
    template <class Consume>
    void walk(std::size_t block, const Consume& consume) {
        near_.move_to(block, guess_);
        const double start = guess_ > 0.0 ? guess_ : near_.side();
        const std::size_t end = std::min((block + 1) * block_size, geometry_.points);
        double largest = 0.0;
        for (std::size_t self = block * block_size; self < end; ++self) {
            const double rho = nearest(self, start);
            largest = std::max(largest, rho);
            consume(self, counts_within(shrunken(rho)));
        }
        guess_ = largest;
    }

private:
    double nearest(std::size_t self, double start) {
        for (GrowingRadius radius(start);;) {
            const std::span<const std::uint32_t> blocks = near_.within(self, radius);
            distances_.resize(std::max(distances_.size(), 3 * block_size * blocks.size()));
            query_ = {&geometry_, x_, y_, self, blocks.data(), blocks.size(), distances_.data()};
            const double rho = kernels_->nearest(query_, k_, room_.data());
            if (rho <= radius) return rho;
            radius.grow(rho);
        }
    }

    // For the point last asked about.
    PointCounts counts_within(double radius) const {
        const std::size_t others = geometry_.points - 1;
        const ColumnCounts n = kernels_->counts_within(query_, radius);
        // An infinite radius also reaches the infinities that fill the last block.
        const auto without_self = [others](std::size_t count) { return std::min(count - 1, others); };
        if (x_ != nullptr) return {without_self(n.xz), without_self(n.yz), without_self(n.z)};
        return {without_self(n.xz), kernels_->sorted_within(sorted_y_, y_[query_.self], radius) - 1, others};
    }

    const Kernels* kernels_;
    Geometry geometry_;
    const double* x_;
    const double* y_;
    SortedLevels sorted_y_;
    std::size_t k_;
    NearBlocks near_;
    AlignedVector<double> distances_, room_;
    ColumnQuery query_{};
    double guess_ = 0.0;  // the radius to try first: what the block before needed
};

class ColumnEngine final : public NeighborEngine {
public:
    ColumnEngine(const Points& x, const Points& z, int k, const Options& options)
        : order_(z.empty() ? x : z),
          x_(z.empty() ? AlignedVector<double>() : order_.arranged(x)),
          k_(static_cast<std::size_t>(k)),
          options_(options),
          digamma_(order_.points()) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        for (std::size_t j = 0; j < out.size(); ++j) {
            std::vector<Sum> partial(static_cast<std::size_t>(thread_count(options_)));
            each_point(source, first + j, [&](std::size_t, const PointCounts& n, int thread) {
                partial[static_cast<std::size_t>(thread)] += digamma_[n.xz + 1] + digamma_[n.yz + 1] - digamma_[n.z + 1];
            });
            out[j] = std::accumulate(partial.begin(), partial.end(), Sum{0});
        }
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(order_.points());
        NeighborCounts result{none, none, none};
        each_point(source, index, [&](std::size_t position, const PointCounts& n, int) {
            const std::uint32_t row = order_.rows()[position];
            result.xz[row] = static_cast<std::uint32_t>(n.xz);
            result.yz[row] = static_cast<std::uint32_t>(n.yz);
            result.z[row] = static_cast<std::uint32_t>(n.z);
        });
        return result;
    }

private:
    // Calls consume(position, counts, thread) once for every point.
    template <class Consume>
    void each_point(const ColumnSource& source, std::size_t index, const Consume& consume) {
        const std::size_t n = order_.points();
        const bool without_z = x_.empty();
        std::vector<double> values(n);
        source(index, values);
        const AlignedVector<double> y = order_.arranged(Points(values.data(), n, 1, 1, 1));
        SortedColumn sorted_y;
        if (without_z) sorted_y.assign(values.data(), n);

        const Walker walker(kernels_, order_.geometry(), without_z ? nullptr : x_.data(), y.data(), sorted_y.view(), k_);
        std::vector<Walker> walkers(static_cast<std::size_t>(thread_count(options_)), walker);
        parallel_for(order_.blocks(), options_, [&](std::size_t block, int thread) {
            walkers[static_cast<std::size_t>(thread)].walk(
                block, [&](std::size_t position, const PointCounts& counts) { consume(position, counts, thread); });
        });
    }

    const Kernels& kernels_ = kernels();
    SpatialOrder order_;
    AlignedVector<double> x_;  // by position; none when the order is that of x itself
    std::size_t k_;
    Options options_;
    DigammaTable digamma_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_column_engine(const Points& x, const Points& z, int k, const Options& options) {
    return std::make_unique<ColumnEngine>(x, z, k, options);
}

}  // namespace knnmi
