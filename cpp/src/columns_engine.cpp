// Many y columns share the work that depends on x and z alone. Each point gets one list of its neighbours in (x, z) and one in
// z, by distance, and eight columns at a time walk them in the lanes of a SIMD register. The points are taken in blocks of
// neighbours, whose lists touch the same rows of y.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "engines.hpp"
#include "near_blocks.hpp"
#include "parallel.hpp"
#include "prepared.hpp"
#include "radius.hpp"

namespace knnmi {
namespace {

// Growing arrays of neighbours.
class NeighborBuffer {
public:
    NeighborArrays arrays(std::size_t capacity) {
        if (distance_.size() < capacity) {
            distance_.resize(capacity);
            position_.resize(capacity);
        }
        return {distance_.data(), position_.data()};
    }
    NeighborArrays arrays() { return {distance_.data(), position_.data()}; }
    std::size_t size = 0;

private:
    AlignedVector<double> distance_;
    AlignedVector<std::uint32_t> position_;
};

// The neighbours of one point up to a radius, by distance.
class OrderedNeighbors {
public:
    void assign(const Kernels& kernels, NeighborBuffer& found, std::vector<std::uint32_t>& scratch) {
        const std::size_t buckets = std::bit_ceil(found.size / 4 + 1);
        scratch.resize(std::max(scratch.size(), buckets + found.size + batch_size));
        floor_.resize(std::max(floor_.size(), found.size / batch_size + 1));
        chunks_ = kernels.order_by_distance(found.arrays(), found.size, buckets, scratch.data(),
                                              list_.arrays(found.size + batch_size), floor_.data());
    }

    NeighborList view() {
        const NeighborArrays arrays = list_.arrays();
        return {arrays.distance, arrays.position, floor_.data(), chunks_};
    }

private:
    NeighborBuffer list_;
    AlignedVector<double> floor_;
    std::size_t chunks_ = 0;
};

// y columns side by side in batches of eight, by position: batch(b)[position * 8 + lane]; and each along the line if there is
// one.
class BatchedColumns {
public:
    // `sorted` holds all their values (see RankedColumn), or is null.
    BatchedColumns(const Prepared& prepared, const ColumnSource& source, std::size_t first, std::size_t count,
                   const std::shared_ptr<const SortedColumn>& sorted, const Options& options)
        : rows_(prepared.geometry().stride), columns_(count), values_(batches() * rows_ * batch_size) {
        if (prepared.counts_by_line()) {
            ranked_.resize(columns_);
            lines_.resize(columns_);
        }
        parallel_for(batches(), options, [&](std::size_t b, int) { fill(b, prepared, source, first, sorted); });
    }

    std::size_t batches() const { return (columns_ + batch_size - 1) / batch_size; }
    std::size_t columns_in(std::size_t batch) const { return std::min(batch_size, columns_ - batch * batch_size); }
    const double* batch(std::size_t b) const { return values_.data() + b * rows_ * batch_size; }
    const RankedLine* lines(std::size_t batch) const { return lines_.data() + batch * batch_size; }

private:
    void fill(std::size_t b, const Prepared& prepared, const ColumnSource& source, std::size_t first,
              const std::shared_ptr<const SortedColumn>& sorted) {
        std::vector<double> values(prepared.points());
        double* const out = values_.data() + b * rows_ * batch_size;
        for (std::size_t lane = 0; lane < columns_in(b); ++lane) {
            const std::size_t column = b * batch_size + lane;
            source(first + column, values);
            for (std::size_t position = 0; position < values.size(); ++position)
                out[position * batch_size + lane] = values[prepared.order().rows()[position]];
            if (!prepared.counts_by_line()) continue;
            ranked_[column] = prepared.ranked(sorted ? sorted : std::make_shared<SortedColumn>(values), values);
            lines_[column] = ranked_[column]->view();
        }
    }

    std::size_t rows_, columns_;
    AlignedVector<double> values_;
    std::vector<std::optional<RankedColumn>> ranked_;
    std::vector<RankedLine> lines_;  // views of them
};

static const double tuning = getenv("TUNE") ? atof(getenv("TUNE")) : 1.0;
// One thread's way through the points of a block.
class BatchWalker {
public:
    BatchWalker(const Prepared& prepared, const BatchedColumns& y)
        : prepared_(&prepared), kernels_(&prepared.kernels()), y_(&y), near_(prepared.geometry(), prepared.kernels()),
          room_(prepared.k() * batch_size) {}

    // Calls consume(position, batch, counts) for every point of the block and every batch.
    template <class Consume>
    void walk(std::size_t block, const Consume& consume) {
        first_ = block * block_size;
        const std::size_t points = std::min(block_size, prepared_->points() - first_);
        find_nearest(block, points);
        if (!prepared_->counts_by_line())
            for (std::size_t p = 0; p < points; ++p) order_z(points_[p]);
        for (std::size_t b = 0; b < y_->batches(); ++b)
            for (std::size_t p = 0; p < points; ++p) consume(first_ + p, b, counts(p, b));
    }

private:
    struct Point {
        NeighborBuffer found_xz, found_z;
        OrderedNeighbors xz, z;
        double radius = 0.0;   // up to which the lists go
        double largest = 0.0;  // k-th distance over all columns
        AlignedVector<double> rho;  // eight for each batch
    };

    void find_nearest(std::size_t block, std::size_t points) {
        near_.move_to(block, guess_);
        const double start = guess_ > 0.0 ? guess_ : near_.side();
        for (std::size_t p = 0; p < points; ++p) {
            points_[p].rho.resize(y_->batches() * batch_size);
            points_[p].largest = 0.0;
            list_neighbors(p, start);
        }
        for (std::size_t b = 0; b < y_->batches(); ++b)
            for (std::size_t p = 0; p < points; ++p) batch_nearest(p, b);
        double sum = 0.0;
        for (std::size_t p = 0; p < points; ++p) {
            for (GrowingRadius radius(start); points_[p].largest > points_[p].radius;) {
                radius.grow(points_[p].largest);
                extend(p, radius);
            }
            sum += points_[p].largest;
        }
        guess_ = tuning * sum / static_cast<double>(points);
    }

    // Once more for the batches that need a longer list than before.
    void extend(std::size_t p, double radius) {
        Point& point = points_[p];
        const double before = point.radius;
        list_neighbors(p, radius);
        point.largest = 0.0;
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            const double* const rho = point.rho.data() + b * batch_size;
            const double largest = *std::max_element(rho, rho + batch_size);
            if (largest > before)
                batch_nearest(p, b);
            else
                point.largest = std::max(point.largest, largest);
        }
    }

    void list_neighbors(std::size_t p, double radius) {
        Point& point = points_[p];
        const std::span<const std::uint32_t> blocks = near_.within(first_ + p, radius);
        const ColumnQuery query{&prepared_->geometry(), prepared_->x(), nullptr, first_ + p, blocks.data(), blocks.size(), nullptr};
        const std::size_t capacity = (blocks.size() + 1) * block_size;
        std::size_t found[2];
        kernels_->neighbors(query, radius, point.found_xz.arrays(capacity), point.found_z.arrays(capacity), found);
        point.found_xz.size = found[0];
        point.found_z.size = found[1];
        point.xz.assign(*kernels_, point.found_xz, scratch_);
        point.radius = radius;
    }

    void order_z(Point& point) {
        NeighborBuffer& found = point.found_z;
        found.size = kernels_->keep_within(found.arrays(), found.size, point.largest);
        point.z.assign(*kernels_, found, scratch_);
    }

    void batch_nearest(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        double* const rho = point.rho.data() + b * batch_size;
        kernels_->batch_nearest(point.xz.view(), y_->batch(b), first_ + p, prepared_->k(), room_.data(), rho);
        point.largest = std::max(point.largest, *std::max_element(rho, rho + batch_size));
    }

    BatchCounts counts(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        const std::size_t self = first_ + p;
        double radius[batch_size];
        for (std::size_t l = 0; l < batch_size; ++l) radius[l] = shrunken(point.rho[b * batch_size + l]);
        BatchCounts n{};
        kernels_->batch_within(point.xz.view(), radius, n.xz);
        if (prepared_->counts_by_line()) {
            kernels_->batch_line_within(y_->lines(b), y_->columns_in(b), y_->batch(b) + self * batch_size,
                                        prepared_->z(self), radius, n.z, n.yz);
            for (std::size_t l = 0; l < batch_size; ++l) {
                --n.yz[l];
                --n.z[l];
            }
        } else {
            kernels_->batch_within_y(point.z.view(), y_->batch(b), self, radius, n.z, n.yz);
        }
        // An infinite radius also reaches the infinities that fill the last block and the lists.
        const auto others = static_cast<std::int64_t>(prepared_->points() - 1);
        for (std::size_t l = 0; l < batch_size; ++l) {
            n.xz[l] = std::clamp(n.xz[l], std::int64_t{0}, others);
            n.yz[l] = std::clamp(n.yz[l], std::int64_t{0}, others);
            n.z[l] = std::clamp(n.z[l], std::int64_t{0}, others);
        }
        return n;
    }

    const Prepared* prepared_;
    const Kernels* kernels_;
    const BatchedColumns* y_;
    NearBlocks near_;
    AlignedVector<double> room_;
    std::vector<std::uint32_t> scratch_;
    Point points_[block_size];
    std::size_t first_ = 0;  // position of the block's first point
    double guess_ = 0.0;     // the radius to try first: what the block before needed
};

class ColumnsEngine final : public NeighborEngine {
public:
    ColumnsEngine(const Points& x, const Points& z, int k, const Options& options) : prepared_(x, z, k), options_(options) {}

    void values_come_from(const Points& y) override {
        std::vector<double> values(y.rows());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = y(i, 0);
        sorted_ = values.empty() ? nullptr : std::make_shared<SortedColumn>(values);
    }

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        const std::size_t most = most_columns();
        for (std::size_t done = 0; done < out.size(); done += most)
            chunk_sums(source, first + done, out.subspan(done, std::min(most, out.size() - done)));
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(prepared_.points());
        NeighborCounts result{none, none, none};
        each_point(source, index, 1, [&](std::size_t position, std::size_t, const BatchCounts& n, int) {
            const std::uint32_t row = prepared_.order().rows()[position];
            result.xz[row] = static_cast<std::uint32_t>(n.xz[0]);
            result.yz[row] = static_cast<std::uint32_t>(n.yz[0]);
            result.z[row] = static_cast<std::uint32_t>(n.z[0]);
        });
        return result;
    }

private:
    // Columns in memory at a time: up to 32 MB of them, and at most 256.
    std::size_t most_columns() const {
        constexpr std::size_t bytes = std::size_t{32} << 20;
        const std::size_t fit = bytes / (prepared_.points() * sizeof(double)) / batch_size * batch_size;
        return std::clamp(fit, batch_size, std::size_t{256});
    }

    void chunk_sums(const ColumnSource& source, std::size_t first, std::span<Sum> out) {
        std::vector<std::vector<Sum>> partial(static_cast<std::size_t>(thread_count(options_)), std::vector<Sum>(out.size() + batch_size));
        each_point(source, first, out.size(), [&](std::size_t, std::size_t batch, const BatchCounts& n, int thread) {
            Sum* const sum = partial[static_cast<std::size_t>(thread)].data() + batch * batch_size;
            for (std::size_t l = 0; l < batch_size; ++l) {
                sum[l] += prepared_.term(static_cast<std::size_t>(n.xz[l]), static_cast<std::size_t>(n.yz[l]),
                                         static_cast<std::size_t>(n.z[l]));
            }
        });
        std::fill(out.begin(), out.end(), Sum{0});
        for (const std::vector<Sum>& sums : partial)
            for (std::size_t j = 0; j < out.size(); ++j) out[j] += sums[j];
    }

    // Calls consume(position, batch, counts, thread) once for every point and batch of columns.
    template <class Consume>
    void each_point(const ColumnSource& source, std::size_t first, std::size_t columns, const Consume& consume) {
        const BatchedColumns y(prepared_, source, first, columns, sorted_, options_);
        std::vector<BatchWalker> walkers(static_cast<std::size_t>(thread_count(options_)), BatchWalker(prepared_, y));
        parallel_for(prepared_.geometry().blocks, options_, [&](std::size_t block, int thread) {
            walkers[static_cast<std::size_t>(thread)].walk(
                block, [&](std::size_t position, std::size_t batch, const BatchCounts& counts) { consume(position, batch, counts, thread); });
        });
    }

    Prepared prepared_;
    Options options_;
    std::shared_ptr<const SortedColumn> sorted_;  // the values that all y's share, when that is known
};

}  // namespace

std::unique_ptr<NeighborEngine> make_columns_engine(const Points& x, const Points& z, int k, const Options& options) {
    return std::make_unique<ColumnsEngine>(x, z, k, options);
}

}  // namespace knnmi
