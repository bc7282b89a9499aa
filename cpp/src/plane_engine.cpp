// Without z: each y makes points of a plane with x, and these are found by their places among the sorted values of x
// and of y. A permutation moves places only, so the values of a column are sorted once. Of many y's eight are looked at
// together.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "crossing_batch.hpp"
#include "engines.hpp"
#include "parallel.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

constexpr std::size_t points_in_a_blink = 5000;  // one y with more takes long enough for its points to be shared out
constexpr std::size_t stretch = 64;              // points that a thread takes at a time
constexpr std::size_t run = 16;                  // of these, how many it counts before it may be stopped
constexpr std::size_t worth_a_batch = 4;         // y's; fewer are sooner taken one by one

// One thread's counts of points.
class Counter {
public:
    // `most` is for batches.
    Counter(const Kernels& kernels, const Terms& terms, std::size_t points, std::size_t k, std::size_t most)
        : kernels_(&kernels),
          terms_(&terms),
          k_(k),
          distances_(std::max(points, batch_size * (most + 2 * batch_step))),
          room_(2 * k) {}

    // Before the points of other planes: what was learnt from the last ones may be far off.
    void begin_planes() { scale_ = first_scale; }

    // Calls consume(place on the x axis, counts in x, in y, in both).
    template <class Consume>
    void count(const Crossing& crossing, std::size_t begin, std::size_t end, const Consume& consume) {
        PlaneScratch scratch{distances_.data(), room_.data(), scale_};
        std::uint32_t x[run], y[run], joint[run] = {};
        for (; begin < end; begin += run) {
            end_if_stopped();
            const std::size_t many = std::min(run, end - begin);
            kernels_->plane_within(crossing.plane(), begin, begin + many, k_, terms_->reach(), scratch,
                                   {x, y, terms_->mixed() ? joint : nullptr});
            for (std::size_t i = 0; i < many; ++i) consume(begin + i, x[i], y[i], joint[i]);
        }
        scale_ = scratch.scale;
    }

    // Calls consume(column, counts in x, in y, in both).
    template <class Consume>
    void count(const PlaneBatch& batch, std::size_t begin, std::size_t end, const Consume& consume) {
        PlaneScratch scratch{distances_.data(), room_.data(), scale_};
        std::uint32_t x[batch_size][batch_run], y[batch_size][batch_run], joint[batch_size][batch_run + 1] = {};
        PlaneCounts counts[batch_size];
        std::size_t many[batch_size];
        for (std::size_t l = 0; l < batch_size; ++l) counts[l] = {x[l], y[l], joint[l]};
        for (; begin < end; begin += batch_run) {
            end_if_stopped();
            kernels_->plane_batch_within(batch, begin, std::min(begin + batch_run, end), k_, terms_->reach(), scratch,
                                         counts, many);
            for (std::size_t l = 0; l < batch.columns; ++l)
                for (std::size_t i = 0; i < many[l]; ++i) consume(l, x[l][i], y[l][i], joint[l][i]);
        }
        scale_ = scratch.scale;
    }

private:
    static constexpr double first_scale = 1.4;

    const Kernels* kernels_;
    const Terms* terms_;
    std::size_t k_;
    std::vector<double> distances_, room_;
    double scale_ = first_scale;
};

class PlaneEngine final : public NeighborEngine {
public:
    PlaneEngine(const Points& x, const Neighborhood& neighborhood, const Kernels& kernels, const Options& options)
        : kernels_(&kernels),
          k_(static_cast<std::size_t>(neighborhood.k)),
          options_(options),
          terms_(x.rows(), false, neighborhood),
          x_(values_of(x), cap_of(x.is_category(0)), k_),
          most_(neighbors_to_look_at(x.rows())) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        const Permuted permuted(*this, source);
        const std::size_t batched = many_in_batches(source, first, out.size());
        if (batched > 0) batch_sums(permuted, first, out.first(batched));
        if (batched < out.size()) single_sums(permuted, first + batched, out.subspan(batched));
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(points());
        NeighborCounts result{none, none, {}, {}};
        result.z.assign(points(), static_cast<std::uint32_t>(points() - 1));
        if (terms_.mixed()) result.joint = none;
        std::vector<Worker> workers(static_cast<std::size_t>(thread_count(options_)), Worker(*this));
        workers[0].take(Permuted(*this, source), index);
        each_stretch(workers, workers[0], options_,
                     [&](std::size_t place, std::size_t x, std::size_t y, std::size_t joint, std::size_t) {
                         const std::size_t row = x_.rows()[place];
                         result.xz[row] = static_cast<std::uint32_t>(x);
                         result.yz[row] = static_cast<std::uint32_t>(y);
                         if (terms_.mixed()) result.joint[row] = static_cast<std::uint32_t>(joint);
                     });
        return result;
    }

private:
    std::size_t points() const { return x_.rows().size(); }

    // The y's of a source, sorted at once where they are rows of one.
    class Permuted {
    public:
        Permuted(const PlaneEngine& engine, const ColumnSource& source) : engine_(&engine), source_(&source) {
            if (source.rows) shared_ = axis(0);
        }

        const Axis* shared_axis() const { return shared_.get(); }

        std::shared_ptr<const Axis> axis(std::size_t index) const {
            if (shared_) return shared_;
            std::vector<double> values(engine_->points());
            source_->write(index, values);
            return std::make_shared<Axis>(values, cap_of(source_->is_category(index, 0)), engine_->k_);
        }

        void places(std::size_t index, const Axis& y, std::vector<std::uint32_t>& places) const {
            places = y.places();
            if (!shared_) return;
            source_->rows(index, places);
            for (std::uint32_t& row : places) row = y.places()[row];
        }

    private:
        const PlaneEngine* engine_;
        const ColumnSource* source_;
        std::shared_ptr<const Axis> shared_;
    };

    // What a thread has of its own.
    struct Worker {
        explicit Worker(const PlaneEngine& of)
            : engine(&of), counter(*of.kernels_, of.terms_, of.points(), of.k_, of.most_) {}

        void take(const Permuted& permuted, std::size_t index, std::size_t lane = 0) {
            const std::shared_ptr<const Axis> y = permuted.axis(index);
            permuted.places(index, *y, places);
            crossings[lane].cross(engine->x_, y, places, engine->terms_.mixed());
        }

        void take_batch(const Permuted& permuted, std::size_t first, std::size_t columns) {
            for (std::size_t l = 0; l < columns; ++l) take(permuted, first + l, l);
            crossings.put_side_by_side(columns, engine->x_, permuted.shared_axis(), engine->most_);
        }

        const PlaneEngine* engine;
        Counter counter;
        CrossingBatch crossings;
        std::vector<std::uint32_t> places;
    };

    // Of two independent columns, one has fewer than sqrt(k n) points within the k-th distance. As many again let
    // nearly all be found; ties lie together at the edge of that.
    std::size_t neighbors_to_look_at(std::size_t points) const {
        return static_cast<std::size_t>((terms_.mixed() ? 4.0 : 2.0) * std::sqrt(static_cast<double>(k_ * points)));
    }

    // How many of the y's, from the first one on.
    std::size_t many_in_batches(const ColumnSource& source, std::size_t first, std::size_t count) const {
        if (x_.is_category() || k_ > kernels_->most_batched) return 0;
        for (std::size_t i = 0; i < count; ++i)
            if (source.is_category(first + i, 0)) return 0;
        const std::size_t over = count % batch_size;
        return over < worth_a_batch ? count - over : count;
    }

    void batch_sums(const Permuted& permuted, std::size_t first, std::span<Sum> out) const {
        const auto threads = static_cast<std::size_t>(thread_count(options_));
        const std::size_t batches = (out.size() + batch_size - 1) / batch_size;
        // Where there are fewer than threads, several take the same one and each a part of its points.
        const std::size_t parts = (threads + batches - 1) / batches, part = (points() + parts - 1) / parts;
        std::vector<Worker> workers(threads, Worker(*this));
        std::vector<std::vector<Sum>> partial(threads, std::vector<Sum>(out.size()));
        parallel_for(batches * parts, options_, [&](std::size_t task, int thread) {
            Worker& own = workers[static_cast<std::size_t>(thread)];
            const std::size_t at = task / parts * batch_size, begin = task % parts * part;
            own.take_batch(permuted, first + at, std::min(batch_size, out.size() - at));
            Sum* const sums = partial[static_cast<std::size_t>(thread)].data() + at;
            own.counter.begin_planes();
            for (const PlaneBatch& batch : own.crossings.batches())
                own.counter.count(batch, begin, std::min(begin + part, points()),
                                  [&](std::size_t l, std::size_t x, std::size_t y, std::size_t joint) {
                                      sums[l] += terms_(x, y, points() - 1, joint);
                                  });
        });
        add_up(partial, out);
    }

    void single_sums(const Permuted& permuted, std::size_t first, std::span<Sum> out) const {
        // Threads share out the y's, or the points of one y after another; never both.
        const auto threads = static_cast<std::size_t>(thread_count(options_));
        const bool by_y = out.size() >= threads && points() <= points_in_a_blink;
        std::vector<Worker> workers(threads, Worker(*this));
        const Options serial{.threads = 1};
        parallel_for(out.size(), by_y ? options_ : serial, [&](std::size_t i, int thread) {
            Worker& own = workers[static_cast<std::size_t>(thread)];
            own.take(permuted, first + i);
            std::vector<Sum> partial(threads);
            each_stretch(workers, own, by_y ? serial : options_,
                         [&](std::size_t, std::size_t x, std::size_t y, std::size_t joint, std::size_t worker) {
                             partial[worker] += terms_(x, y, points() - 1, joint);
                         });
            out[i] = std::accumulate(partial.begin(), partial.end(), Sum{0});
        });
    }

    // Calls consume(place on the x axis, counts in x, in y, in both, worker) for all points of the y that `own` took.
    template <class Consume>
    void each_stretch(std::vector<Worker>& workers, Worker& own, const Options& options, const Consume& consume) const {
        const Crossing& crossing = own.crossings[0];
        const auto self = static_cast<std::size_t>(&own - workers.data());
        const auto threads = static_cast<std::size_t>(thread_count(options));
        for (std::size_t thread = 0; thread < threads; ++thread)
            workers[(self + thread) % workers.size()].counter.begin_planes();
        parallel_for((points() + stretch - 1) / stretch, options, [&](std::size_t block, int thread) {
            const std::size_t worker = (self + static_cast<std::size_t>(thread)) % workers.size();
            workers[worker].counter.count(crossing, block * stretch, std::min((block + 1) * stretch, points()),
                                          [&](std::size_t place, std::size_t x, std::size_t y, std::size_t joint) {
                                              consume(place, x, y, joint, worker);
                                          });
        });
    }

    const Kernels* kernels_;
    std::size_t k_;
    Options options_;
    Terms terms_;
    Axis x_;
    std::size_t most_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_plane_engine(const Points& x, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<PlaneEngine>(x, neighborhood, kernels, options);
}

}  // namespace knnmi
