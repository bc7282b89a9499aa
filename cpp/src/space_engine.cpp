// With one column in z: each y makes points of a space with x and z, and these are found by their places among the
// sorted values of each. What x and z leave near a point is known before any y, and a permutation moves places only.
// A place is a number of 16 bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "engines.hpp"
#include "parallel.hpp"
#include "sorted_column.hpp"
#include "sorted_line.hpp"
#include "terms.hpp"

namespace knnmi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t places_beyond = 64;  // the last one

using Place = std::uint16_t;
using Places = std::vector<Place>;

constexpr Place no_place = most_places;

// So many others are looked for within the first radius, that only few of the points need another.
double likely_enough(std::size_t k) { return static_cast<double>(k) + std::sqrt(static_cast<double>(k)); }

// Radii for the first and for further looks: 0, those that most points need, some that few do, and infinity.
struct Ladder {
    // From the radii that some points need, ascending.
    explicit Ladder(std::span<const double> needed) {
        const auto first = std::upper_bound(needed.begin(), needed.end(), 0.0);
        std::vector<double> steps{0.0};
        if (first != needed.end() && *first < infinity) {
            const auto last = std::lower_bound(first, needed.end(), infinity) - 1;
            const double octaves = std::log2(*last) - std::log2(*first);
            std::vector<double> middle;
            for (int i = 0; i <= parts; ++i) {
                middle.push_back(*(first + (last - first) * i / parts));
                middle.push_back(*first * std::exp2(octaves * i / parts));
            }
            std::sort(middle.begin(), middle.end());
            const double ratio = std::exp2(std::max(0.25, octaves / parts));
            for (const double power : {-7.0, -3.0, -1.0}) add(steps, *first * std::pow(ratio, power));
            for (const double needed_by_some : middle)
                if (needed_by_some > 1.08 * steps.back()) add(steps, needed_by_some);
            for (const double power : {1.0, 3.0, 7.0, 15.0}) add(steps, *last * std::pow(ratio, power));
        }
        const double below = std::nextafter(cap_of(true), 0.0);
        below_cap = static_cast<std::size_t>(steps.insert(std::upper_bound(steps.begin(), steps.end(), below), below) -
                                             steps.begin());
        radius.fill(infinity);
        std::copy(steps.begin(), steps.end(), radius.begin());
        levels = steps.size();
    }

    std::array<double, most_radii> radius;
    std::size_t levels;     // of finite radii
    std::size_t below_cap;  // the last one below the cap of a category

private:
    static constexpr int parts = 10;

    // A little more than a distance, for values that are as far away but for rounding.
    static void add(std::vector<double>& steps, double radius) {
        if (1.001 * radius > steps.back() && 1.001 * radius < infinity) steps.push_back(1.001 * radius);
    }
};

// The values of a column as one axis.
class Axis {
public:
    // Rows of equal values are in the order of `ties`, or of their numbers.
    Axis(std::span<const double> values, double cap, std::span<const double> ties = {})
        : rows_(ascending_rows(Points::single_column(values.data(), values.size()))),
          places_(points()),
          first_equal_(points()),
          sorted_(values),
          gap_(points()),
          cap_(cap) {
        const std::span<const double> value = sorted_.values();
        for (std::size_t begin = 0, end = 0; begin < points(); begin = end) {
            while (end < points() && value[end] == value[begin]) ++end;
            if (!ties.empty())
                std::stable_sort(rows_.begin() + static_cast<std::ptrdiff_t>(begin),
                                 rows_.begin() + static_cast<std::ptrdiff_t>(end),
                                 [&](std::uint32_t a, std::uint32_t b) { return ties[a] < ties[b]; });
            const double below = begin > 0 ? value[begin] - value[begin - 1] : infinity;
            const double above = end < points() ? value[end] - value[begin] : infinity;
            const double gap = end - begin < points() ? std::min({below, above, cap_}) : infinity;
            for (std::size_t place = begin; place < end; ++place) {
                places_[rows_[place]] = static_cast<Place>(place);
                first_equal_[place] = static_cast<Place>(begin);
                gap_[place] = gap;
            }
        }
    }

    // Finds the windows within each radius.
    void measure(const Ladder& ladder) {
        begin_.resize(most_radii * points());
        end_.resize(begin_.size());
        const std::span<const double> value = sorted_.values();
        std::array<std::size_t, most_radii> begin{}, end{};
        end.fill(points());
        std::size_t levels = 0;
        while (levels < ladder.levels && ladder.radius[levels] < cap_) end[levels++] = 0;
        for (std::size_t place = 0; place < points(); ++place)
            for (std::size_t l = 0; l < most_radii; ++l) {
                if (l < levels) {
                    while (value[place] - value[begin[l]] > ladder.radius[l]) ++begin[l];
                    while (end[l] < points() && value[end[l]] - value[place] <= ladder.radius[l]) ++end[l];
                }
                begin_[most_radii * place + l] = static_cast<Place>(begin[l]);
                end_[most_radii * place + l] = static_cast<Place>(end[l]);
            }
    }

    std::size_t points() const { return rows_.size(); }
    const std::vector<std::uint32_t>& rows() const { return rows_; }     // by place
    const Places& places() const { return places_; }                     // by row
    const Places& first_equal() const { return first_equal_; }           // by place: the first of its value
    std::span<const double> values() const { return sorted_.values(); }  // by place
    double cap() const { return cap_; }
    SpaceAxis view() const { return {&sorted_.view(), gap_.data(), begin_.data(), end_.data(), cap_}; }

private:
    std::vector<std::uint32_t> rows_;
    Places places_, first_equal_, begin_, end_;
    SortedColumn sorted_;
    std::vector<double> gap_;
    double cap_;
};

// x and z.
class FixedAxes {
public:
    FixedAxes(const Points& x, const Points& z)
        : x_(values_of(x), cap_of(x.is_category(0))),
          z_(values_of(z), cap_of(z.is_category(0)), values_of(x)),
          places_in_x_(points() + places_beyond, no_place),
          z_along_x_(places_in_x_),
          first_equal_(points()),
          equal_(points()),
          equal_z_(points()) {
        for (std::size_t place = 0; place < points(); ++place) {
            places_in_x_[place] = x_.places()[z_.rows()[place]];
            z_along_x_[places_in_x_[place]] = static_cast<Place>(place);
            x_along_z_.push_back(x_.values()[places_in_x_[place]]);
        }
        find_equal();
    }

    std::size_t points() const { return z_.points(); }
    const Axis& x() const { return x_; }
    const Axis& z() const { return z_; }
    const Places& places_in_x() const { return places_in_x_; }  // by place in z
    const Places& first_equal() const { return first_equal_; }  // by place in z: one of those equal in x and z
    std::uint32_t most_equal() const { return *std::max_element(equal_.begin(), equal_.end()); }

    // Finds windows, and for each point how wide one in y must be.
    void measure(const Ladder& ladder, double enough, const Kernels& kernels, const Options& options) {
        x_.measure(ladder);
        z_.measure(ladder);
        space_ = {.points = points(),
                  .radius = ladder.radius.data(),
                  .below_cap = ladder.below_cap,
                  .categories = std::min(x_.cap(), z_.cap()) < infinity,
                  .x = x_.view(),
                  .z = z_.view(),
                  .x_along_z = x_along_z_.data(),
                  .places_in_x = places_in_x_.data(),
                  .z_along_x = z_along_x_.data(),
                  .enough = nullptr,
                  .equal = equal_.data(),
                  .equal_z = equal_z_.data()};
        enough_.assign(most_radii * points(), 0);
        space_.enough = enough_.data();
        const double pairs = enough * static_cast<double>(points() - 1);
        const auto keep = [&](std::size_t place, std::size_t level, std::size_t near) {
            enough_[most_radii * place + level] =
                static_cast<Place>(std::min<double>(most_places, 1 + std::ceil(pairs / static_cast<double>(near))));
        };
        if (points() >= worth_a_grid) return count_along_z(ladder, kernels, options, keep);
        parallel_runs(points(), options, [&](std::size_t begin, std::size_t end) {
            for (std::size_t place = begin; place < end; ++place) {
                std::uint32_t near[most_radii];
                kernels.space_near(space_, place, ladder.levels, near);
                for (std::size_t l = 0; l < ladder.levels; ++l) keep(place, l, near[l]);
            }
        });
    }

    const Space& space() const { return space_; }

private:
    // How many others are within each radius of each point. By a grid, whose time grows with the root of the rows.
    template <class Keep>
    void count_along_z(const Ladder& ladder, const Kernels& kernels, const Options& options, const Keep& keep) const {
        std::vector<double> x(points()), z(points());  // by row
        for (std::size_t place = 0; place < points(); ++place) {
            x[x_.rows()[place]] = x_.values()[place];
            z[z_.rows()[place]] = z_.values()[place];
        }
        const unsigned char z_category = z_.cap() < infinity;
        const SortedLine line(Points::single_column(z.data(), points()).with_categories(&z_category));
        const RankedColumn along(nullptr, line, x, x_.cap(), kernels);
        const RankedLine counted = along.view();
        parallel_runs(points(), options, [&](std::size_t begin, std::size_t end) {
            for (std::size_t place = begin; place < end; ++place)
                for (std::size_t l = 0; l < ladder.levels; ++l)
                    keep(place, l,
                         kernels.line_within(counted, x_along_z_[place], z_.values()[place], ladder.radius[l]).yz - 1);
        });
    }

    void find_equal() {
        Places first(points(), no_place);  // by first place in x: one seen with an equal z
        std::vector<std::uint32_t> tally(points());
        for (std::size_t begin = 0, end = 0; begin < points(); begin = end) {
            const auto in_x = [&](std::size_t place) { return x_.first_equal()[places_in_x_[place]]; };
            for (; end < points() && z_.first_equal()[end] == begin; ++end) {
                Place& seen = first[in_x(end)];
                if (seen == no_place || seen < begin) seen = static_cast<Place>(end);
                first_equal_[end] = seen;
                ++tally[seen];
            }
            for (std::size_t place = begin; place < end; ++place) {
                equal_[place] = tally[first_equal_[place]] - 1;
                equal_z_[place] = static_cast<std::uint32_t>(end - begin - 1);
            }
        }
    }

    Axis x_, z_;
    Places places_in_x_, z_along_x_, first_equal_, enough_;
    std::vector<double> x_along_z_;
    std::vector<std::uint32_t> equal_, equal_z_;
    Space space_{};
};

// One y beside them.
class Column {
public:
    // `places[row]` is the place of a row on the axis of y; `every` are the numbers 0, 1, ...
    void cross(const FixedAxes& fixed, std::shared_ptr<const Axis> y, const Places& places, const Places& every) {
        y_ = std::move(y);
        const std::size_t points = places.size();
        places_in_y_.assign(points + places_beyond, no_place);
        z_along_y_ = places_in_y_;
        bool once = true;
        for (std::size_t p = 0; p < points; ++p) {
            const Place in_y = places[fixed.z().rows()[p]];
            places_in_y_[p] = in_y;
            once = once && z_along_y_[in_y] == no_place;
            z_along_y_[in_y] = static_cast<Place>(p);
        }
        before_.clear();
        if (!once) order(points);
        x_places_along_y_.assign(points + places_beyond, no_place);
        for (std::size_t q = 0; q < points; ++q) x_places_along_y_[q] = fixed.places_in_x()[z_along_y_[q]];
        view_ = {.y = y_->view(),
                 .places_in_y = places_in_y_.data(),
                 .z_along_y = z_along_y_.data(),
                 .x_places_along_y = x_places_along_y_.data(),
                 .before = once ? every.data() : before_.data(),
                 .equal = nullptr,
                 .equal_yz = nullptr};
    }

    void count_equal(const FixedAxes& fixed) {
        const std::size_t points = fixed.points();
        equal_.resize(points);
        equal_yz_.resize(points);
        std::vector<std::uint32_t> in_xyz(points), in_yz(points);
        const auto value = [&](std::size_t q) { return y_->first_equal()[places_in_y_[z_along_y_[q]]]; };
        const auto xyz = [&](std::size_t q) -> std::uint32_t& { return in_xyz[fixed.first_equal()[z_along_y_[q]]]; };
        const auto yz = [&](std::size_t q) -> std::uint32_t& { return in_yz[fixed.z().first_equal()[z_along_y_[q]]]; };
        for (std::size_t begin = 0, end = 0; begin < points; begin = end) {
            for (; end < points && value(end) == value(begin); ++end) {
                ++xyz(end);
                ++yz(end);
            }
            for (std::size_t q = begin; q < end; ++q) {
                equal_[z_along_y_[q]] = xyz(q) - 1;
                equal_yz_[z_along_y_[q]] = yz(q) - 1;
            }
            for (std::size_t q = begin; q < end; ++q) xyz(q) = yz(q) = 0;
        }
        view_.equal = equal_.data();
        view_.equal_yz = equal_yz_.data();
    }

    const SpaceColumn& view() const { return view_; }

private:
    // Where rows share places.
    void order(std::size_t points) {
        std::vector<std::uint32_t> next(points + 1);
        for (std::size_t p = 0; p < points; ++p) ++next[places_in_y_[p] + 1u];
        for (std::size_t place = 0; place < points; ++place) next[place + 1] += next[place];
        before_.assign(next.begin(), next.end());
        for (std::size_t p = 0; p < points; ++p) z_along_y_[next[places_in_y_[p]]++] = static_cast<Place>(p);
    }

    std::shared_ptr<const Axis> y_;
    Places places_in_y_, z_along_y_, x_places_along_y_, before_;
    std::vector<std::uint32_t> equal_, equal_yz_;
    SpaceColumn view_{};
};

// What one thread needs; the memory is kept for further columns.
class Worker {
public:
    Worker(std::size_t points, std::size_t k)
        : from_here_(most_points * points),
          distances_(points),
          room_(2 * k),
          first_(most_points * most_radii * words(points)),
          chosen_(first_.size()),
          near_(most_points * most_radii * in_disc(points)) {
        for (std::size_t p = 0; p < most_points; ++p) {
            scratch[p].from_here = from_here_.data() + p * points;
            scratch[p].distances = distances_.data();
            scratch[p].room = room_.data();
            for (std::size_t l = 0; l < most_radii; ++l) {
                const std::size_t disc = p * most_radii + l;
                scratch[p].discs[l] = {.made = false,
                                       .words = 0,
                                       .first = first_.data() + disc * words(points),
                                       .chosen = chosen_.data() + disc * words(points),
                                       .near = 0,
                                       .distances = near_.data() + disc * in_disc(points),
                                       .least = 0.0,
                                       .most = 0.0};
            }
        }
    }

    void begin(std::size_t columns) {
        sums.assign(columns, Sum{0});
        const std::size_t each = most_points * columns;
        counts_.resize(4 * each);
        std::uint32_t* const at = counts_.data();
        counts = {at, at + each, at + 2 * each, at + 3 * each};
    }

    SpaceScratch scratch[most_points];
    SpaceCounts counts{};     // of the last points
    std::vector<Sum> sums{};  // by column

private:
    static std::size_t words(std::size_t points) { return points / 64 + 1; }
    static std::size_t in_disc(std::size_t points) { return std::min(longest_near + 1, points) + batch_size; }

    std::vector<double> from_here_, distances_, room_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> chosen_;
    std::vector<double> near_;
    std::vector<std::uint32_t> counts_{};
};

class SpaceEngine final : public NeighborEngine {
public:
    SpaceEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                const Options& options)
        : kernels_(&kernels),
          k_(static_cast<std::size_t>(neighborhood.k)),
          options_(options),
          terms_(x.rows(), true, neighborhood),
          fixed_(x, z),
          every_(x.rows() + 1) {
        std::iota(every_.begin(), every_.end(), Place{0});
    }

    void sums(const ColumnSource& source, std::size_t, std::size_t first, std::span<Sum> out) override {
        // About 32 MB of them.
        const std::size_t each = fixed_.points() * (source.rows ? 16 : 192);
        const std::size_t most = std::clamp<std::size_t>((std::size_t{32} << 20) / each, 8, 256);
        for (std::size_t done = 0; done < out.size();) {
            const std::span<Sum> part =
                out.subspan(done, alike(source, first + done, std::min(most, out.size() - done)));
            each_point(source, first + done, part.size(), [&](std::size_t, std::size_t at, Worker& worker) {
                const SpaceCounts& n = worker.counts;
                for (std::size_t j = 0; j < part.size(); ++j) {
                    const std::size_t joint = terms_.mixed() ? n.joint[at + j] : 0;
                    worker.sums[j] += terms_(n.xz[at + j], n.yz[at + j], n.z[at + j], joint);
                }
            });
            std::fill(part.begin(), part.end(), Sum{0});
            for (const Worker& worker : workers_)
                for (std::size_t j = 0; j < part.size(); ++j) part[j] += worker.sums[j];
            done += part.size();
        }
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t, std::size_t index) override {
        const std::vector<std::uint32_t> none(fixed_.points());
        NeighborCounts result{none, none, none, {}};
        if (terms_.mixed()) result.joint = none;
        each_point(source, index, 1, [&](std::size_t place, std::size_t at, Worker& worker) {
            const std::uint32_t row = fixed_.z().rows()[place];
            result.xz[row] = worker.counts.xz[at];
            result.yz[row] = worker.counts.yz[at];
            result.z[row] = worker.counts.z[at];
            if (terms_.mixed()) result.joint[row] = worker.counts.joint[at];
        });
        return result;
    }

private:
    // How many columns from the first one on are categories, or are none, as it is.
    static std::size_t alike(const ColumnSource& source, std::size_t first, std::size_t most) {
        std::size_t count = 1;
        while (count < most && source.is_category(first + count, 0) == source.is_category(first, 0)) ++count;
        return count;
    }

    std::shared_ptr<Axis> axis(const ColumnSource& source, std::size_t index) const {
        std::vector<double> values(fixed_.points());
        source.write(index, values);
        return std::make_shared<Axis>(values, cap_of(source.is_category(index, 0)));
    }

    // By radii that some points need beside one y, and how much more or fewer points are near than if that had nothing
    // to do with x and z. `places[row]` is the place of a row on the axis of y.
    void measure(const Axis& y, const Places& places) {
        const std::size_t n = fixed_.points(), sample = std::min<std::size_t>(n, 64);
        const std::size_t wanted = std::min(n - 1, static_cast<std::size_t>(likely_enough(k_)));
        const auto apart = [](const Axis& axis, std::uint32_t a, std::uint32_t b) {
            return std::min(std::abs(axis.values()[a] - axis.values()[b]), axis.cap());
        };
        std::vector<double> in_xz(n), in_y(n), in_all(n), needed;
        double found = 0.0, foreseen = 0.0;
        for (std::size_t s = 0; s < sample; ++s) {
            const std::uint32_t row = fixed_.z().rows()[s * n / sample];
            for (std::size_t other = 0; other < n; ++other) {
                in_xz[other] = std::max(apart(fixed_.x(), fixed_.x().places()[row], fixed_.x().places()[other]),
                                        apart(fixed_.z(), fixed_.z().places()[row], fixed_.z().places()[other]));
                in_y[other] = apart(y, places[row], places[other]);
                in_all[other] = std::max(in_xz[other], in_y[other]);
            }
            const auto at = in_all.begin() + static_cast<std::ptrdiff_t>(wanted);
            std::nth_element(in_all.begin(), at, in_all.end());
            const double radius = *at;
            needed.push_back(radius);
            const auto near = [radius](const std::vector<double>& distances) {
                return static_cast<double>(
                    std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= radius; }) - 1);
            };
            found += near(in_all);
            foreseen += near(in_xz) * near(in_y) / static_cast<double>(n - 1);
        }
        std::sort(needed.begin(), needed.end());
        ladder_.emplace(needed);
        fixed_.measure(*ladder_, likely_enough(k_) * foreseen / found, *kernels_, options_);
    }

    std::vector<Column> columns(const ColumnSource& source, std::size_t first, std::size_t count) {
        std::shared_ptr<Axis> shared;
        if (source.rows) shared = axis(source, 0);
        const auto places_of = [&](const Axis& y, std::size_t index) {
            if (!source.rows) return y.places();
            std::vector<std::uint32_t> rows(fixed_.points());
            source.rows(index, rows);
            Places places;
            for (const std::uint32_t row : rows) places.push_back(y.places()[row]);
            return places;
        };
        if (!ladder_) {
            const std::size_t last = first + count - 1;  // of permutations, surely one
            const std::shared_ptr<Axis> y = shared ? shared : axis(source, last);
            measure(*y, places_of(*y, last));
        }
        if (shared) shared->measure(*ladder_);
        const bool with_equal = terms_.mixed() && fixed_.most_equal() >= k_;
        std::vector<Column> made(count);
        parallel_for(count, options_, [&](std::size_t j, int) {
            std::shared_ptr<Axis> y = shared;
            if (!y) {
                y = axis(source, first + j);
                y->measure(*ladder_);
            }
            made[j].cross(fixed_, y, places_of(*y, first + j), every_);
            if (with_equal) made[j].count_equal(fixed_);
        });
        return made;
    }

    // Calls consume(place in z, where its counts begin, worker) for each point.
    template <class Consume>
    void each_point(const ColumnSource& source, std::size_t first, std::size_t count, const Consume& consume) {
        const std::vector<Column> made = columns(source, first, count);
        std::vector<SpaceColumn> views;
        Space space = fixed_.space();
        for (const Column& column : made) {
            views.push_back(column.view());
            space.categories = space.categories || column.view().y.cap < infinity;
        }
        while (workers_.size() < static_cast<std::size_t>(thread_count(options_)))
            workers_.emplace_back(fixed_.points(), k_);
        for (Worker& worker : workers_) worker.begin(count);
        parallel_for((fixed_.points() + most_points - 1) / most_points, options_, [&](std::size_t block, int thread) {
            Worker& worker = workers_[static_cast<std::size_t>(thread)];
            SpaceCounts counts = worker.counts;
            if (!terms_.mixed()) counts.joint = nullptr;
            const std::size_t begin = block * most_points, many = std::min(most_points, fixed_.points() - begin);
            kernels_->space_within(space, begin, many, views.data(), count, k_, terms_.reach(), worker.scratch, counts);
            for (std::size_t p = 0; p < many; ++p) consume(begin + p, p * count, worker);
        });
    }

    const Kernels* kernels_;
    std::size_t k_;
    Options options_;
    Terms terms_;
    FixedAxes fixed_;
    std::optional<Ladder> ladder_;
    Places every_;
    std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_space_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<SpaceEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
