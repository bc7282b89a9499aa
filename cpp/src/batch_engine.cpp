// Many y columns share the work that depends on x and z alone. The points are taken in blocks of neighbours, whose
// lists touch the same rows of y.
#include <algorithm>
#include <memory>
#include <optional>

#include "along_y.hpp"
#include "batch_walker.hpp"
#include "batched_columns.hpp"
#include "engines.hpp"
#include "far_neighbors.hpp"
#include "far_values.hpp"
#include "fixed_side.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

class BatchEngine final : public NeighborEngine {
public:
    BatchEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                const Options& options)
        : fixed_(x, z, neighborhood, kernels),
          options_(options),
          may_grow_long_(!fixed_.counts_by_line() && fixed_.points() > enough_for_far_values * z.columns()),
          far_in_x_(may_grow_long_ && has_far_values(fixed_.x_points())) {
        if (fixed_.counts_by_line() && fixed_.points() >= batch_size) along_y_.emplace(fixed_, x);
    }

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
    // For points whose x or y is far from all others. One of the y's tells it, where they are rows of the same one.
    bool lists_grow_long(const BatchedColumns& y, bool same_values) const {
        if (!may_grow_long_) return false;
        const std::size_t batches = same_values ? 1 : y.batches();
        bool far = far_in_x_;
        for (std::size_t b = 0; b < batches && !far; ++b) far = has_far_values(y.by_position(b * batch_size));
        return far;
    }

    // Columns in memory at a time: about 128 MB of them, and at most 256. What they share is made anew for each part.
    // Values far out may take half as much again.
    std::size_t most_columns() const {
        constexpr std::size_t bytes = std::size_t{128} << 20;
        // Values, which are sorted again in sets of equal points, with cells; with a line also ranks, the grid, and the
        // rows in order of y. Where values lie far out, an order, places and what is known of such values.
        const std::size_t each =
            8 + (fixed_.sets().empty() ? 0 : 47) + (fixed_.counts_by_line() ? 32 : 0) + (far_in_x_ || far_ ? 34 : 0);
        const std::size_t fit = bytes / (fixed_.points() * each) / batch_size * batch_size;
        return std::clamp(fit, batch_size, std::size_t{256});
    }

    void chunk_sums(const ColumnSource& source, std::size_t first, std::span<Sum> out) {
        const auto threads = static_cast<std::size_t>(thread_count(options_));
        std::vector<std::vector<Sum>> partial(threads, std::vector<Sum>(out.size()));
        each_block(source, first, out.size(),
                   [&](std::size_t, std::size_t batch, std::span<const BatchCounts> counts, int thread) {
                       add_terms(counts, std::min(batch_size, out.size() - batch * batch_size),
                                 partial[static_cast<std::size_t>(thread)].data() + batch * batch_size);
                   });
        add_up(partial, out);
    }

    void add_terms(std::span<const BatchCounts> counts, std::size_t columns, Sum* sums) const {
        std::int64_t block[batch_size] = {};  // a block's terms are far from overflowing
        const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
        for (const BatchCounts& n : counts)
            for (std::size_t l = 0; l < columns; ++l)
                block[l] += fixed_.terms()(size(n.xz[l]), size(n.yz[l]), size(n.z[l]), size(n.joint[l]));
        for (std::size_t l = 0; l < columns; ++l) sums[l] += block[l];
    }

    // Calls consume(position, batch, counts, thread) once for every block and batch of columns.
    template <class Consume>
    void each_block(const ColumnSource& source, std::size_t first, std::size_t columns, const Consume& consume) {
        BatchedColumns y({.rows = fixed_.order().rows(),
                          .stride = fixed_.geometry().stride,
                          .line = fixed_.counts_by_line() ? &fixed_.line() : nullptr,
                          .sets = fixed_.sets(),
                          .first_placed = fixed_.sets_in_z(),
                          .kernels = &fixed_.kernels()},
                         source, first, columns, options_);
        if (!far_ && lists_grow_long(y, static_cast<bool>(source.rows))) far_.emplace(fixed_);
        std::optional<FarValues> far_values;
        std::span<const double> shared;
        if (columns >= batch_size && (along_y_ || far_)) shared = y.shared_values(options_);
        if (!shared.empty()) {
            far_values = FarValues::of(fixed_, along_y_ ? &*along_y_ : nullptr, y, shared, options_);
            if (far_) y.place(shared, options_);
        }
        std::vector<BatchWalker> walkers(static_cast<std::size_t>(thread_count(options_)),
                                         BatchWalker(fixed_, y, along_y_ ? &*along_y_ : nullptr,
                                                     far_ ? &*far_ : nullptr, far_values ? &*far_values : nullptr));
        parallel_for(fixed_.geometry().blocks, options_, [&](std::size_t block, int thread) {
            BatchWalker& walker = walkers[static_cast<std::size_t>(thread)];
            walker.walk(block, [&](std::size_t position, std::size_t batch, std::span<const BatchCounts> counts) {
                consume(position, batch, counts, thread);
            });
        });
    }

    FixedSide fixed_;
    Options options_;
    // From so many points on for each column of z, lists are too long for values far out, as measured.
    static constexpr std::size_t enough_for_far_values = 350;

    bool may_grow_long_;  // lists, with values far out
    bool far_in_x_;       // and x has them
    std::optional<AlongY> along_y_;
    std::optional<FarNeighbors> far_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_batch_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<BatchEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
