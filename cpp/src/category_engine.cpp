// For z of one category: what is nearer than 1 is in the category of a point, and all else is as far as it is along x
// and y, or 1. So neighbours are looked for in a list of the category, which all y's share, and what is farther is
// counted in the plane of x and y alone.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "batched_columns.hpp"
#include "engines.hpp"
#include "kd_tree.hpp"
#include "neighbor_lists.hpp"
#include "parallel.hpp"
#include "sorted_line.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

constexpr double apart = cap_of(true);  // what points of two categories are at least

// The positions [begin, end) of one category.
struct Category {
    std::uint32_t begin, end;
};

// x and z. Positions are by category, and by x in each; places are by x.
class ByCategory {
public:
    ByCategory(const Points& x, const Points& z) : line_(x), x_cap_(cap_of(x.is_category(0))), every_place_(x.rows()) {
        std::iota(every_place_.begin(), every_place_.end(), 0u);
        places_ = every_place_;
        const auto label = [&](std::uint32_t place) { return z(line_.rows()[place], 0); };
        std::stable_sort(places_.begin(), places_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return label(a) < label(b); });
        for (const std::uint32_t place : places_) {
            const auto position = static_cast<std::uint32_t>(rows_.size());
            if (position == 0 || label(place) != label(places_[position - 1]))
                categories_.push_back({position, position});
            ++categories_.back().end;
            category_at_.push_back(static_cast<std::uint32_t>(categories_.size() - 1));
            rows_.push_back(line_.rows()[place]);
        }
    }

    std::size_t points() const { return rows_.size(); }
    const std::vector<std::uint32_t>& rows() const { return rows_; }  // by position
    const SortedLine& line() const { return line_; }                  // along x

    std::uint32_t place(std::size_t position) const { return places_[position]; }
    double x(std::size_t position) const { return line_.z().values[places_[position]]; }
    AscendingColumn x() const {  // its rows are places
        return {every_place_, every_place_, {line_.z().values, points()}, x_cap_};
    }
    const Category& category_of(std::size_t position) const { return categories_[category_at_[position]]; }

private:
    SortedLine line_;
    double x_cap_;
    std::vector<std::uint32_t> every_place_;
    std::vector<std::uint32_t> places_, rows_, category_at_;  // by position
    std::vector<Category> categories_;
};

// The other points of a category that are nearer than 1 along x.
void find_near(const ByCategory& fixed, std::size_t position, Neighbors& near) {
    const Category& category = fixed.category_of(position);
    const double x = fixed.x(position);
    const PointDistances out = near.reserve(category.end - category.begin);
    std::size_t found = 0;
    const auto is_near = [&](std::size_t other) {
        const double distance = std::min(std::abs(fixed.x(other) - x), fixed.x().cap);
        if (distance >= apart) return false;
        out.distance[found] = distance;
        out.position[found++] = static_cast<std::uint32_t>(other);
        return true;
    };
    for (std::size_t below = position; below > category.begin && is_near(below - 1);) --below;
    for (std::size_t above = position + 1; above < category.end && is_near(above);) ++above;
    near.found(found);
}

// One thread's way through the points.
class CategoryWalker {
public:
    CategoryWalker(const ByCategory& fixed, const Terms& terms, std::size_t k, const Kernels& kernels)
        : fixed_(&fixed),
          terms_(&terms),
          k_(k),
          kernels_(&kernels),
          room_(k * 2 * batch_size),
          nearest_(static_cast<int>(k)) {}

    // Calls consume(position, batch, counts) for every batch.
    template <class Consume>
    void walk(std::size_t begin, std::size_t end, const BatchedColumns& y, const Consume& consume) {
        near_.resize(std::max(near_.size(), end - begin));
        for (std::size_t position = begin; position < end; ++position) {
            Neighbors& near = near_[position - begin];
            find_near(*fixed_, position, near);
            near.order(*kernels_, scratch_);
        }
        for (std::size_t b = 0; b < y.batches(); ++b) {
            end_if_stopped();
            for (std::size_t position = begin; position < end; ++position)
                consume(position, b, counts(near_[position - begin].ordered(), position, y, b));
        }
    }

private:
    BatchCounts counts(const NeighborList& near, std::size_t position, const BatchedColumns& y, std::size_t b) {
        const Category& category = fixed_->category_of(position);
        const BatchView values = y.batch(b);
        const double* const own_y = values.values + position * batch_size;
        double rho[batch_size], radius[batch_size], listed[batch_size];
        kernels_->batch_nearest(near, values, position, {}, all_columns, k_, no_end, room_.data(), rho);
        for (std::size_t l = 0; l < y.columns_in(b); ++l)
            if (rho[l] >= apart)
                rho[l] = kth_distance_beyond(y.ranked(b * batch_size + l), y.lines(b).line[l], position, own_y[l]);
        kernels_->batch_radii(rho, terms_->reach(), std::numeric_limits<double>::infinity(), radius, listed);

        BatchCounts n{};
        if (terms_->mixed())
            kernels_->batch_within_y(near, values, position, radius, n.xz, n.joint);
        else
            kernels_->batch_within(near, radius, n.xz);
        kernels_->batch_within_run(values, position, category.begin, category.end, radius, n.yz);
        for (std::size_t l = 0; l < batch_size; ++l) {
            --n.yz[l];  // the point itself
            n.z[l] = static_cast<std::int64_t>(category.end - category.begin) - 1;
        }
        for (std::size_t l = 0; l < y.columns_in(b); ++l) {
            if (radius[l] < apart) continue;  // else all points are within it in z
            const LineCounts plane =
                kernels_->line_within(y.lines(b).line[l], own_y[l], fixed_->x(position), radius[l]);
            n.xz[l] = static_cast<std::int64_t>(plane.z) - 1;
            n.yz[l] = static_cast<std::int64_t>(plane.y) - 1;
            n.z[l] = static_cast<std::int64_t>(fixed_->points()) - 1;
            n.joint[l] = static_cast<std::int64_t>(plane.yz) - 1;
        }
        return n;
    }

    // Of a y with fewer than k neighbours nearer than 1. Others are as far as in the plane, or 1. Where fewer than k
    // are within 1 there, they are looked for along x or y, whichever has fewer that near.
    double kth_distance_beyond(const RankedColumn& column, const RankedLine& line, std::size_t position, double own_y) {
        const AscendingColumn x = fixed_->x();
        const std::uint32_t place = fixed_->place(position);
        const double own_x = x.values[place];
        const LineCounts plane = kernels_->line_within(line, own_y, own_x, apart);
        if (plane.yz > k_) return apart;
        const AscendingColumn y = column.ascending();
        nearest_.clear();
        const auto near = [&](double d) { return d < nearest_.bound(); };
        const auto insert = [&](double d) {
            d = std::max(d, apart);
            if (d < nearest_.bound()) nearest_.insert(d);
            return true;
        };
        if (plane.z < plane.y)
            x.outward(place, near, [&](std::uint32_t other, double d) {
                return insert(std::max(d, std::min(std::abs(y.values[y.places[other]] - own_y), y.cap)));
            });
        else
            y.outward(place, near, [&](std::uint32_t other, double d) {
                return insert(std::max(d, std::min(std::abs(x.values[other] - own_x), x.cap)));
            });
        return nearest_.kth();
    }

    const ByCategory* fixed_;
    const Terms* terms_;
    std::size_t k_;
    const Kernels* kernels_;
    AlignedVector<double> room_;
    KSmallest nearest_;
    std::vector<Neighbors> near_;
    std::vector<std::uint32_t> scratch_;
};

class CategoryEngine final : public NeighborEngine {
public:
    CategoryEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                   const Options& options)
        : fixed_(x, z),
          kernels_(&kernels),
          options_(options),
          terms_(x.rows(), true, neighborhood),
          walkers_(static_cast<std::size_t>(thread_count(options)),
                   CategoryWalker(fixed_, terms_, static_cast<std::size_t>(neighborhood.k), kernels)) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        constexpr std::size_t bytes = std::size_t{128} << 20, each = 40;  // as for those beside one column in z
        const std::size_t most =
            std::clamp(bytes / (fixed_.points() * each) / batch_size * batch_size, batch_size, std::size_t{256});
        for (std::size_t done = 0; done < out.size(); done += most)
            chunk_sums(source, first + done, out.subspan(done, std::min(most, out.size() - done)));
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(fixed_.points());
        NeighborCounts result{none, none, none, {}};
        if (terms_.mixed()) result.joint = none;
        each_point(source, index, 1, [&](std::size_t position, std::size_t, const BatchCounts& n, int) {
            const std::uint32_t row = fixed_.rows()[position];
            result.xz[row] = static_cast<std::uint32_t>(n.xz[0]);
            result.yz[row] = static_cast<std::uint32_t>(n.yz[0]);
            result.z[row] = static_cast<std::uint32_t>(n.z[0]);
            if (terms_.mixed()) result.joint[row] = static_cast<std::uint32_t>(n.joint[0]);
        });
        return result;
    }

private:
    void chunk_sums(const ColumnSource& source, std::size_t first, std::span<Sum> out) {
        std::vector<std::vector<Sum>> partial(walkers_.size(), std::vector<Sum>(out.size()));
        const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
        each_point(source, first, out.size(), [&](std::size_t, std::size_t batch, const BatchCounts& n, int thread) {
            Sum* const sums = partial[static_cast<std::size_t>(thread)].data() + batch * batch_size;
            for (std::size_t l = 0; l < std::min(batch_size, out.size() - batch * batch_size); ++l)
                sums[l] += terms_(size(n.xz[l]), size(n.yz[l]), size(n.z[l]), size(n.joint[l]));
        });
        add_up(partial, out);
    }

    // Calls consume(position, batch, counts, thread) once for every point and batch of columns.
    template <class Consume>
    void each_point(const ColumnSource& source, std::size_t first, std::size_t columns, const Consume& consume) {
        const BatchedColumns y({.rows = fixed_.rows(),
                                .stride = fixed_.points(),
                                .line = &fixed_.line(),
                                .counts = RankedColumn::Counts::alone_too,
                                .kernels = kernels_},
                               source, first, columns, options_);
        constexpr std::size_t run = 64;
        parallel_for((fixed_.points() + run - 1) / run, options_, [&](std::size_t block, int thread) {
            const std::size_t begin = block * run, end = std::min(begin + run, fixed_.points());
            walkers_[static_cast<std::size_t>(thread)].walk(
                begin, end, y, [&](std::size_t position, std::size_t batch, const BatchCounts& n) {
                    consume(position, batch, n, thread);
                });
        });
    }

    ByCategory fixed_;
    const Kernels* kernels_;
    Options options_;
    Terms terms_;
    std::vector<CategoryWalker> walkers_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_category_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                     const Kernels& kernels, const Options& options) {
    return std::make_unique<CategoryEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
