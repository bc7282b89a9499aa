// Without z: each y makes points of a plane with x, and these are found by their places among the sorted values of x
// and of y. A permutation moves places only, so the values of a column are sorted once.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engines.hpp"
#include "parallel.hpp"
#include "sorted_column.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

constexpr std::size_t points_in_a_blink = 5000;  // one y with more takes long enough for its points to be shared out
constexpr std::size_t stretch = 64;              // points that a thread takes at a time
constexpr std::size_t run = 16;                  // of these, how many it counts before it may be stopped

// The values of a column as one axis of a plane.
class Axis {
public:
    Axis(std::span<const double> values, double cap, std::size_t k)
        : rows_(ascending_rows(Points::single_column(values.data(), values.size()))),
          places_(rows_.size()),
          sorted_(values),
          cap_(cap) {
        const std::size_t n = rows_.size();
        for (std::size_t place = 0; place < n; ++place) places_[rows_[place]] = static_cast<std::uint32_t>(place);
        // Of two independent columns with an even spread, a point's k-th neighbour is about so many places away.
        const std::size_t farther = 1 + static_cast<std::size_t>(0.5 * std::sqrt(static_cast<double>(k * n)));
        constexpr double least_root = 1e-150;
        const std::span<const double> value = sorted_.values();
        for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
            while (end < n && value[end] == value[begin]) ++end;
            const double below = begin > 0 ? value[begin] - value[begin - 1] : cap_;
            // A little more, for values that are as far away but for rounding.
            const double gap = 1.001 * std::min({below, end < n ? value[end] - value[begin] : cap_, cap_});
            for (std::size_t place = begin; place < end; ++place) {
                const double distance = distance_to(place, farther);
                root_.push_back(std::sqrt(std::clamp(distance, least_root, 1 / least_root)));
                per_root_.push_back(static_cast<double>(farther) / root_.back());
                gap_.push_back(end - begin > 1 ? gap : 0.0);
                first_equal_.push_back(static_cast<std::uint32_t>(begin));
            }
        }
    }

    const std::vector<std::uint32_t>& rows() const { return rows_; }                // by place
    const std::vector<std::uint32_t>& places() const { return places_; }            // by row
    std::span<const double> values() const { return sorted_.values(); }             // by place
    const std::vector<std::uint32_t>& first_equal() const { return first_equal_; }  // by place: the first of its value

    PlaneAxis view(const double* across, const std::uint16_t* crossed) const {
        return {&sorted_.view(), across, crossed, root_.data(), per_root_.data(), gap_.data(), cap_};
    }

private:
    // To so many places farther, on the side where that is nearer.
    double distance_to(std::size_t place, std::size_t farther) const {
        const std::span<const double> value = values();
        const std::size_t last = value.size() - 1;
        const double up = value[std::min(place + farther, last)] - value[place];
        const double down = value[place] - value[place - std::min(place, farther)];
        const bool up_only = place < farther && place + farther <= last;
        const bool down_only = place + farther > last && place >= farther;
        return std::min(up_only ? up : down_only ? down : std::min(up, down), cap_);
    }

    std::vector<std::uint32_t> rows_, places_, first_equal_;
    SortedColumn sorted_;
    std::vector<double> root_, per_root_, gap_;
    double cap_;
};

// One y beside x; the memory is taken with the first one and kept for the next.
class Crossing {
public:
    // `places[row]` is the place of a row on the axis of y.
    void cross(const Axis& x, const Axis& y, std::span<const std::uint32_t> places) {
        const std::size_t points = places.size();
        y_along_x_.resize(points);
        x_along_y_.resize(points);
        place_in_y_.resize(points);
        crossed_x_.resize(points + 32, 0xffff);
        crossed_y_.resize(points + 32, 0xffff);
        while (((points - 1) >> shift_) >= 0xffff) ++shift_;
        for (std::size_t p = 0; p < points; ++p) {
            const std::uint32_t in_y = places[x.rows()[p]];
            place_in_y_[p] = in_y;
            crossed_x_[p] = static_cast<std::uint16_t>(in_y >> shift_);
            crossed_y_[in_y] = static_cast<std::uint16_t>(p >> shift_);
            y_along_x_[p] = y.values()[in_y];
            x_along_y_[in_y] = x.values()[p];
        }
        plane_ = {.points = points,
                  .x = x.view(y_along_x_.data(), crossed_x_.data()),
                  .y = y.view(x_along_y_.data(), crossed_y_.data()),
                  .place_in_y = place_in_y_.data(),
                  .shift = shift_};
    }

    const Plane& plane() const { return plane_; }

    // For each place on the axis of x, how many others are equal in both x and y.
    void count_equal(const Axis& x, const Axis& y, std::vector<std::uint32_t>& equal) {
        equal.resize(plane_.points);
        tally_.assign(plane_.points, 0);  // by the first place of an x
        place_in_x_.resize(plane_.points);
        for (std::size_t p = 0; p < plane_.points; ++p) place_in_x_[place_in_y_[p]] = static_cast<std::uint32_t>(p);
        const auto tally = [&](std::size_t q) -> std::uint32_t& { return tally_[x.first_equal()[place_in_x_[q]]]; };
        for (std::size_t begin = 0, end = 0; begin < plane_.points; begin = end) {
            for (; end < plane_.points && y.first_equal()[end] == begin; ++end) ++tally(end);
            for (std::size_t q = begin; q < end; ++q) equal[place_in_x_[q]] = tally(q) - 1;
            for (std::size_t q = begin; q < end; ++q) tally(q) = 0;
        }
    }

private:
    std::vector<double> y_along_x_, x_along_y_;
    std::vector<std::uint32_t> place_in_y_, place_in_x_, tally_;
    std::vector<std::uint16_t> crossed_x_, crossed_y_;
    std::size_t shift_ = 0;
    Plane plane_{};
};

// One thread's counts of points, a stretch at a time.
class Counter {
public:
    Counter(const Kernels& kernels, const Terms& terms, std::size_t k)
        : kernels_(&kernels), terms_(&terms), k_(k), room_(2 * k) {}

    // Before the points of another plane: what was learnt from the last one may be far off.
    void begin_plane() { scale_ = first_scale; }

    // Calls consume(place on the x axis, counts in x, in y, in both). `equal` is for the mixed estimator.
    template <class Consume>
    void count(const Plane& plane, const std::vector<std::uint32_t>& equal, std::size_t begin, std::size_t end,
               const Consume& consume) {
        distances_.resize(plane.points);
        PlaneScratch scratch{distances_.data(), room_.data(), scale_};
        for (; begin < end; begin += run) {
            end_if_stopped();
            const std::size_t many = std::min(run, end - begin);
            if (terms_->mixed()) std::copy_n(equal.begin() + static_cast<std::ptrdiff_t>(begin), many, joint_);
            kernels_->plane_within(plane, begin, begin + many, k_, terms_->reach(), scratch,
                                   {x_, y_, terms_->mixed() ? joint_ : nullptr});
            for (std::size_t i = 0; i < many; ++i) consume(begin + i, x_[i], y_[i], terms_->mixed() ? joint_[i] : 0);
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
    std::uint32_t x_[run], y_[run], joint_[run];
};

class PlaneEngine final : public NeighborEngine {
public:
    PlaneEngine(const Points& x, const Neighborhood& neighborhood, const Kernels& kernels, const Options& options)
        : kernels_(&kernels),
          k_(static_cast<std::size_t>(neighborhood.k)),
          options_(options),
          terms_(x.rows(), false, neighborhood),
          x_(values_of(x), cap_of(x.is_category(0)), k_) {}

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        // Threads share out the y's, or the points of one y after another; never both.
        const auto threads = static_cast<std::size_t>(thread_count(options_));
        const bool by_y = out.size() >= threads && points() <= points_in_a_blink;
        const Permuted permuted(*this, source);
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
        explicit Worker(const PlaneEngine& of) : engine(&of), counter(*of.kernels_, of.terms_, of.k_) {}

        void take(const Permuted& permuted, std::size_t index) {
            y = permuted.axis(index);
            permuted.places(index, *y, places);
            crossing.cross(engine->x_, *y, places);
            if (engine->terms_.mixed()) crossing.count_equal(engine->x_, *y, equal);
        }

        const PlaneEngine* engine;
        Crossing crossing;
        Counter counter;
        std::shared_ptr<const Axis> y;
        std::vector<std::uint32_t> places, equal;
    };

    // Calls consume(place on the x axis, counts in x, in y, in both, worker) for all points of the y that `own` took.
    template <class Consume>
    void each_stretch(std::vector<Worker>& workers, Worker& own, const Options& options, const Consume& consume) const {
        const Plane& plane = own.crossing.plane();
        const auto self = static_cast<std::size_t>(&own - workers.data());
        const auto threads = static_cast<std::size_t>(thread_count(options));
        for (std::size_t thread = 0; thread < threads; ++thread)
            workers[(self + thread) % workers.size()].counter.begin_plane();
        parallel_for((points() + stretch - 1) / stretch, options, [&](std::size_t block, int thread) {
            const std::size_t worker = (self + static_cast<std::size_t>(thread)) % workers.size();
            workers[worker].counter.count(plane, own.equal, block * stretch, std::min((block + 1) * stretch, points()),
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
};

}  // namespace

std::unique_ptr<NeighborEngine> make_plane_engine(const Points& x, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<PlaneEngine>(x, neighborhood, kernels, options);
}

}  // namespace knnmi
