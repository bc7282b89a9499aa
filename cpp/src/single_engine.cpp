// One y column at a time. A point's distances to the blocks near it are kept in a row, from which both the k-th
// neighbour and the counts are read.
#include <algorithm>
#include <numeric>
#include <optional>

#include "engines.hpp"
#include "fixed_side.hpp"
#include "growing_radius.hpp"
#include "near_blocks.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

struct PointCounts {
    std::size_t xz, yz, z, joint;  // the point itself not included
};

// One y by position, and along the line where counts come from it.
struct Column {
    AlignedVector<double> values;
    double cap;
    std::optional<RankedColumn> ranked;
};

// One thread's way through the points of a block, for one y.
class Walker {
public:
    Walker(const FixedSide& fixed, const Column& y)
        : fixed_(&fixed),
          y_(&y),
          near_(fixed.geometry(), fixed.geometry(), fixed.kernels()),
          room_((fixed.k() + 1) * 2 * batch_size) {
        if (y.ranked) line_ = y.ranked->view();
    }

    // Calls consume(position, counts) for every point of the block.
    template <class Consume>
    void walk(std::size_t block, const Consume& consume) {
        near_.move_to(block, guess_);
        const double start = guess_ > 0.0 ? guess_ : near_.side();
        const std::size_t end = std::min((block + 1) * block_size, fixed_->points());
        double total = 0.0;
        for (std::size_t self = block * block_size; self < end; ++self) {
            end_if_stopped();
            const double rho = nearest(self, start);
            total += rho;
            consume(self, counts_within(fixed_->terms().reach(rho)));
        }
        guess_ = 1.1 * total / static_cast<double>(end - block * block_size);  // as measured; flat within a tenth
    }

private:
    double nearest(std::size_t self, double start) {
        for (GrowingRadius radius(start);;) {
            const std::span<const std::uint32_t> blocks = near_.within(self, radius);
            distances_.resize(std::max(distances_.size(), 3 * block_size * blocks.size()));
            query_ = {.geometry = &fixed_->geometry(),
                      .x = fixed_->x(),
                      .y = y_->values.data(),
                      .x_cap = fixed_->x_cap(),
                      .y_cap = y_->cap,
                      .self = self,
                      .blocks = blocks.data(),
                      .block_count = blocks.size(),
                      .distances = distances_.data()};
            const double rho = fixed_->kernels().nearest(query_, fixed_->k(), room_.data());
            const double needed = fixed_->terms().covering(rho);
            if (needed <= radius) return rho;
            radius.grow(needed);
        }
    }

    // For the point last searched.
    PointCounts counts_within(double radius) const {
        const SingleCounts n = fixed_->kernels().counts_within(query_, radius);
        // An infinite radius also reaches the infinities that fill the last block.
        const auto others = [all = fixed_->points()](std::size_t count) { return std::min(count, all) - 1; };
        const std::size_t joint = fixed_->terms().mixed() ? others(fixed_->kernels().joint_within(query_, radius)) : 0;
        if (!line_) return {others(n.xz), others(n.yz), others(n.z), joint};
        const LineCounts line =
            fixed_->kernels().line_within(*line_, y_->values[query_.self], fixed_->z()[query_.self], radius);
        return {others(n.xz), line.yz - 1, line.z - 1, joint};
    }

    const FixedSide* fixed_;
    const Column* y_;
    std::optional<RankedLine> line_;
    NearBlocks near_;
    AlignedVector<double> distances_, room_;
    PointQuery query_{};
    double guess_ = 0.0;  // the radius to try first, from what the block before needed
};

class SingleEngine final : public NeighborEngine {
public:
    SingleEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                 const Options& options)
        : fixed_(x, z, neighborhood, kernels), options_(options) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        for (std::size_t j = 0; j < out.size(); ++j) {
            std::vector<Sum> partial(static_cast<std::size_t>(thread_count(options_)));
            each_point(source, first + j, [&](std::size_t, const PointCounts& n, int thread) {
                partial[static_cast<std::size_t>(thread)] += fixed_.terms()(n.xz, n.yz, n.z, n.joint);
            });
            out[j] = std::accumulate(partial.begin(), partial.end(), Sum{0});
        }
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(fixed_.points());
        NeighborCounts result{none, none, none, {}};
        if (fixed_.terms().mixed()) result.joint = none;
        each_point(source, index, [&](std::size_t position, const PointCounts& n, int) {
            const std::uint32_t row = fixed_.order().rows()[position];
            result.xz[row] = static_cast<std::uint32_t>(n.xz);
            result.yz[row] = static_cast<std::uint32_t>(n.yz);
            result.z[row] = static_cast<std::uint32_t>(n.z);
            if (fixed_.terms().mixed()) result.joint[row] = static_cast<std::uint32_t>(n.joint);
        });
        return result;
    }

private:
    // Calls consume(position, counts, thread) once for every point.
    template <class Consume>
    void each_point(const ColumnSource& source, std::size_t index, const Consume& consume) {
        std::vector<double> values(fixed_.points());
        source.write(index, values);
        const double cap = cap_of(source.is_category(index, 0));
        Column y{fixed_.order().arranged(Points::single_column(values.data(), values.size())), cap, {}};
        if (fixed_.counts_by_line()) {
            y.ranked = fixed_.ranked(sorted_, values, cap);
            sorted_ = y.ranked->sorted();
        }

        std::vector<Walker> walkers(static_cast<std::size_t>(thread_count(options_)), Walker(fixed_, y));
        parallel_for(fixed_.geometry().blocks, options_, [&](std::size_t block, int thread) {
            walkers[static_cast<std::size_t>(thread)].walk(
                block, [&](std::size_t position, const PointCounts& n) { consume(position, n, thread); });
        });
    }

    FixedSide fixed_;
    Options options_;
    std::shared_ptr<const SortedColumn> sorted_;  // the y before, whose values the next one may share
};

}  // namespace

std::unique_ptr<NeighborEngine> make_single_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                   const Kernels& kernels, const Options& options) {
    return std::make_unique<SingleEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
