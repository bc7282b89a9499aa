// Many y columns share the work that depends on x and z alone. Each point gets one list of its neighbours in (x, z)
// and one in z, by distance, and eight columns at a time walk them in the lanes of a SIMD register. The points are
// taken in blocks of neighbours, whose lists touch the same rows of y. A y that would need a longer list than most is
// searched by itself: with one column in z along its own values, with more where values lie far out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "along_y.hpp"
#include "batched_columns.hpp"
#include "engines.hpp"
#include "far_neighbors.hpp"
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
    // `along_y` and `far` are null where no y is searched by itself.
    BatchWalker(const FixedSide& fixed, const BatchedColumns& y, const AlongY* along_y, const FarNeighbors* far)
        : fixed_(&fixed),
          kernels_(&fixed.kernels()),
          y_(&y),
          along_y_(along_y),
          far_(far),
          near_(fixed.geometry(), fixed.apart(), fixed.kernels()),
          room_(fixed.k() * 2 * batch_size) {
        if (along_y == nullptr) return;
        longest_ = longest_list(fixed.points(), fixed.k());
        // Where x and y are independent, m points near in (x, z) and k n / m near in y have k of them in common. The
        // factors are as measured.
        const double balanced = std::sqrt(static_cast<double>(fixed.k() * fixed.points()));
        enough_ = static_cast<std::size_t>(3.0 * balanced);
        patience_ = static_cast<std::size_t>(2.0 * balanced);
    }

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
            end_if_stopped();
            for (std::size_t p = 0; p < points; ++p) counts[p] = counts_within(p, b);
            consume(first_, b, std::span<const BatchCounts>(counts, points));
        }
    }

private:
    struct NearSet {
        std::size_t number;
        double distance;
        bool own;  // holds the point itself
    };

    struct Point {
        Neighbors xz, z;
        double radius = 0.0;          // up to which they were collected
        AlignedVector<double> rho;    // k-th distances, eight for each batch
        std::vector<unsigned> alone;  // for each batch, the columns that are searched by themselves, as bits
        std::vector<double> covered;  // and how far points must be looked at for all others
        std::vector<NearSet> sets_in_z, sets_in_xz;  // that are near, whose points are in no list
    };

    // All columns walk the list of a point; few lists turn out to be too short.
    void find_nearest(std::size_t block, std::size_t points) {
        near_.move_to(block, guess_);
        const double start = guess_ > 0.0 ? guess_ : near_.side();
        for (std::size_t p = 0; p < points; ++p) {
            points_[p].rho.resize(y_->batches() * batch_size);
            points_[p].covered.resize(y_->batches());
            points_[p].alone.assign(y_->batches(), 0);
            if (along_y_ != nullptr)
                collect_enough(p, start);
            else
                collect(p, start);
        }
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            end_if_stopped();  // with many neighbours a block takes seconds
            for (std::size_t p = 0; p < points; ++p) batch_nearest(p, b);
        }
        for (std::size_t p = 0; p < points; ++p) {
            if (along_y_ != nullptr) {
                search_along_y(p);
            } else {
                reach_most(p);
                if (far_ != nullptr) search_far(p);
            }
        }
        if (far_ != nullptr) choose_served(points / 2);
        guess_ = learnt_radius(points);
    }

    // For the next block.
    double learnt_radius(std::size_t points) {
        if (along_y_ != nullptr) return median(points, [this](const Point& point) { return radius_for_most(point); });
        if (far_ != nullptr) return 1.1 * median(points, [this](const Point& point) { return needed(point); });
        double sum = 0.0;
        for (std::size_t p = 0; p < points; ++p) sum += needed(points_[p]);
        return 1.1 * sum / static_cast<double>(points);  // flat within a quarter
    }

    // A list of so many points at most that the y's that need more have few points near along y.
    void collect_enough(std::size_t p, double start) {
        Point& point = points_[p];
        point.radius = -1.0;
        GrowingRadius radius(start);
        double less = -1.0, more = infinity;  // radii within which there are too few, and too many
        for (int tries = 0; tries < most_tries; ++tries) {
            const bool found = find(p, radius);
            if (found && listed(point) >= std::min(2 * fixed_->k(), fixed_->points() - 1)) break;
            if (!found && radius == infinity) break;
            (found ? less : more) = radius;
            if (more == infinity)
                radius.grow(infinity);
            else
                radius = GrowingRadius(less > 0.0 ? std::sqrt(less * more) : 0.25 * more);
        }
        if (point.radius != radius && !(less >= 0.0 && find(p, less))) {
            point.xz.found(0);
            point.sets_in_xz.clear();
            point.radius = -1.0;  // not even points at distance 0
        } else if (point.xz.size() > 2 * enough_) {
            point.radius = point.xz.distance_within_which(enough_, sorted_);
            point.xz.drop_beyond(point.radius, *kernels_);
        }
        point.xz.order(*kernels_, scratch_);
    }

    // Points in (x, z), with those of sets.
    std::size_t listed(const Point& point) const {
        std::size_t points = point.xz.size();
        for (const NearSet& set : point.sets_in_xz) points += fixed_->sets()[set.number].points();
        return points;
    }

    // Those within a radius that are in no set.
    std::size_t to_list(std::size_t self, double radius) const {
        std::size_t points = along_y_->xz_within(self, radius) + 1;
        for (const EqualPoints& set : fixed_->sets())
            if (fixed_->distance(self, set.position()) <= radius) points -= set.points();
        return points;
    }

    // For a list that would have served all columns, or have been long enough.
    double radius_for_most(const Point& point) const {
        const double listed = static_cast<double>(point.xz.size() + 1);
        const double scale = std::clamp(std::sqrt(static_cast<double>(enough_) / listed), 0.5, 2.0);
        return std::min(1.1 * farthest_covered(point), scale * std::max(0.0, point.radius));
    }

    // Some points are themselves far out.
    template <class Function>
    double median(std::size_t points, const Function& of) {
        double all[block_size];
        for (std::size_t p = 0; p < points; ++p) all[p] = of(points_[p]);
        std::nth_element(all, all + points / 2, all + points);
        return all[points / 2];
    }

    // How far points must be looked at for the columns that lists serve.
    double needed(const Point& point) { return far_ != nullptr ? needed_by(point, served_) : farthest_covered(point); }

    // The same for a share of the columns.
    double needed_by(const Point& point, double share) {
        sorted_.assign(point.rho.begin(), point.rho.begin() + static_cast<std::ptrdiff_t>(y_->columns()));
        const auto at = sorted_.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted_.size() - 1));
        std::nth_element(sorted_.begin(), at, sorted_.end());
        return fixed_->terms().covering(*at);
    }

    // Which share of the columns lists should serve in the next block, by what would have been best for this point.
    // Costs are in nanoseconds, roughly as measured; they are no part of any answer.
    void choose_served(std::size_t p) {
        const Point& point = points_[p];
        alone_.clear();
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            end_if_stopped();  // columns are sorted when they are first wanted, which may take a second for all
            for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
                const std::size_t j = b * batch_size + l;
                alone_.push_back(far_->cost(y_->ascending(j), first_ + p, point.rho[j]));
            }
        }
        // Lists must reach those that cannot be searched by themselves.
        double least = infinity, best = 1.0, farthest = 0.0;
        for (std::size_t j = 0; j < alone_.size(); ++j)
            if (alone_[j] == least) farthest = std::max(farthest, fixed_->terms().covering(point.rho[j]));
        for (const double share : {1.0, 0.9, 0.75, 0.5, 0.25, 0.0}) {
            served_ = share;
            const double radius = std::max(needed(point), farthest);
            const double each = 10.0 + 1.5 * static_cast<double>(y_->batches());
            double cost = each * static_cast<double>(far_->z_within(first_ + p, radius));
            for (std::size_t j = 0; j < alone_.size(); ++j)
                if (fixed_->terms().covering(point.rho[j]) > radius) cost += alone_[j];
            if (cost >= least) continue;
            least = cost;
            best = share;
        }
        served_ = best;
    }

    // Collects farther out; only the batches that this concerns walk again.
    void reach(std::size_t p, double radius) {
        const double before = points_[p].radius;
        collect(p, radius);
        end_if_stopped();
        for (std::size_t b = 0; b < y_->batches(); ++b)
            if (points_[p].covered[b] > before) batch_nearest(p, b);
    }

    // Until no neighbour that is missing can be nearer than a k-th one.
    void reach_most(std::size_t p) {
        Point& point = points_[p];
        GrowingRadius radius(point.radius);
        const auto least = [&] { return far_ != nullptr ? needed_by(point, 0.5 * served_) : needed(point); };
        for (double wanted = least(); wanted > point.radius; wanted = least()) {
            radius.grow(wanted);
            reach(p, radius);
        }
    }

    // Collects farther out where this costs less than the search along y of the columns that need it. Costs are in
    // nanoseconds, roughly as measured; they are no part of any answer.
    void reach_some(std::size_t p) {
        Point& point = points_[p];
        GrowingRadius radius(std::max(0.0, point.radius));
        for (;;) {
            double each = 6.0;  // point more in the list
            alone_.clear();
            sorted_.clear();
            for (std::size_t b = 0; b < y_->batches(); ++b) {
                const std::size_t before = sorted_.size();
                for (std::size_t l = 0; point.alone[b] != 0 && l < y_->columns_in(b); ++l) {
                    const double rho = point.rho[b * batch_size + l];
                    if (fixed_->terms().covering(rho) <= point.radius) continue;
                    sorted_.push_back(fixed_->terms().covering(rho));
                    const double value = y_->batch(b).values[(first_ + p) * batch_size + l];
                    const std::size_t near = along_y_->y_within(y_->ranked(b * batch_size + l), value, rho);
                    alone_.push_back(30.0 + 1.1 * static_cast<double>(near));
                }
                if (sorted_.size() > before) each += 1.5;
            }
            if (sorted_.empty()) return;
            radius.grow(*std::max_element(sorted_.begin(), sorted_.end()));
            const double all = std::accumulate(alone_.begin(), alone_.end(), 0.0);
            if (all < each * static_cast<double>(to_list(first_ + p, radius)) || !find(p, radius)) return;
            point.xz.order(*kernels_, scratch_);
            for (std::size_t b = 0; b < y_->batches(); ++b) {
                if (point.alone[b] == 0) continue;
                end_if_stopped();
                point.alone[b] = 0;
                batch_nearest(p, b);
            }
        }
    }

    void search_along_y(std::size_t p) {
        reach_some(p);
        Point& point = points_[p];
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            if (point.alone[b] == 0) continue;
            end_if_stopped();
            for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
                if (!is_alone(point, b, l)) continue;
                double& rho = point.rho[b * batch_size + l];
                rho =
                    along_y_->kth_distance(y_->ranked(b * batch_size + l), first_ + p, rho, fixed_->k(), room_.data());
            }
            const double* const all = point.rho.data() + b * batch_size;
            point.covered[b] = fixed_->terms().covering(*std::max_element(all, all + y_->columns_in(b)));
        }
    }

    // A list serves all that cannot be searched along y.
    void search_far(std::size_t p) {
        Point& point = points_[p];
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            if (point.covered[b] <= point.radius) continue;
            end_if_stopped();
            for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
                const std::size_t j = b * batch_size + l;
                if (fixed_->terms().covering(point.rho[j]) <= point.radius) continue;
                const auto found = far_->kth_distance(y_->ascending(j), first_ + p, point.rho[j], room_.data());
                if (!found) continue;
                point.alone[b] |= 1u << l;
                point.rho[j] = *found;
            }
            cover(point, b);
        }
        GrowingRadius radius(point.radius);
        for (double wanted = farthest_covered(point); wanted > point.radius; wanted = farthest_covered(point)) {
            radius.grow(wanted);
            reach(p, radius);
        }
    }

    static double farthest_covered(const Point& point) {
        return *std::max_element(point.covered.begin(), point.covered.end());
    }

    static bool is_alone(const Point& point, std::size_t b, std::size_t lane) {
        return (point.alone[b] >> lane & 1u) != 0;
    }

    // For the columns that are not searched by themselves.
    void cover(Point& point, std::size_t b) const {
        double largest = 0.0;
        for (std::size_t l = 0; l < y_->columns_in(b); ++l)
            if (!is_alone(point, b, l)) largest = std::max(largest, point.rho[b * batch_size + l]);
        point.covered[b] = fixed_->terms().covering(largest);
    }

    void collect(std::size_t p, double radius) {
        find(p, radius);
        points_[p].xz.order(*kernels_, scratch_);
    }

    // False, and nothing is changed, if the list would be so long that each y is better searched by itself.
    bool find(std::size_t p, double radius) {
        Point& point = points_[p];
        const std::span<const std::uint32_t> blocks = near_.within(first_ + p, radius);
        if (blocks.size() * block_size > longest_) return false;
        const Near near = fixed_->sets().empty() ? Near{blocks, {}} : apart_from_sets(point, p, radius, blocks);
        const auto query = [&](std::span<const std::uint32_t> of) -> PointQuery {
            return {.geometry = &fixed_->geometry(),
                    .x = fixed_->x(),
                    .y = nullptr,
                    .x_cap = fixed_->x_cap(),
                    .y_cap = 0.0,
                    .self = first_ + p,
                    .blocks = of.data(),
                    .block_count = of.size(),
                    .distances = nullptr};
        };
        const PointDistances xz = point.xz.reserve((near.apart.size() + near.in_sets.size()) * block_size);
        std::size_t found[2], found_in_sets[2] = {0, 0};
        kernels_->neighbors(query(near.apart), radius, xz, point.z.reserve(near.apart.size() * block_size), found);
        if (!near.in_sets.empty())
            kernels_->neighbors(query(near.in_sets), radius, {xz.distance + found[0], xz.position + found[0]},
                                in_sets_.reserve(near.in_sets.size() * block_size), found_in_sets);
        point.xz.found(found[0] + found_in_sets[0]);
        point.z.found(found[1]);
        point.radius = radius;
        return true;
    }

    // Blocks near a point: in z, those of no set; and in (x, z), those of sets that are equal in z only.
    struct Near {
        std::span<const std::uint32_t> apart, in_sets;
    };

    // Notes the sets that are near.
    Near apart_from_sets(Point& point, std::size_t p, double radius, std::span<const std::uint32_t> blocks) {
        const std::size_t self = first_ + p, own = self / block_size;
        blocks_apart_.clear();
        blocks_in_sets_.clear();
        point.sets_in_z.clear();
        point.sets_in_xz.clear();
        for (const std::uint32_t block : blocks)  // an infinite radius, or one of 1 in categories, reaches all
            if (!fixed_->in_set(block)) blocks_apart_.push_back(block);
        for (std::size_t s = 0; s < fixed_->sets_in_z(); ++s) {
            const EqualPoints& set = fixed_->sets()[s];
            const double d = fixed_->distance(self, set.position());
            if (d > radius) continue;
            // A block of a set holds no others, so the point is one of the set if its block is.
            const bool own_set = d == 0.0 && fixed_->in_set(own);
            point.sets_in_z.push_back({s, d, own_set});
            const FixedSide::NearInSet near = fixed_->near_in_set(set, self, radius);
            blocks_in_sets_.insert(blocks_in_sets_.end(), near.loose.begin(), near.loose.end());
            for (std::size_t inner = near.first_within; inner < near.last_within; ++inner) {
                const double along_x = fixed_->x_distance(self, fixed_->sets()[inner].position());
                const bool own_inner = own_set && along_x == 0.0 && fixed_->in_inner_set(own);
                point.sets_in_xz.push_back({inner, std::max(d, along_x), own_inner});
            }
        }
        for (std::size_t s = 0; fixed_->counts_by_line() && s < fixed_->sets().size(); ++s) {
            const double d = fixed_->distance(self, fixed_->sets()[s].position());
            if (d <= radius) point.sets_in_xz.push_back({s, d, d == 0.0 && fixed_->in_inner_set(own)});
        }
        std::sort(point.sets_in_xz.begin(), point.sets_in_xz.end(),
                  [](const NearSet& a, const NearSet& b) { return a.distance < b.distance; });
        return {blocks_apart_, blocks_in_sets_};
    }

    void order_z(Point& point) {
        point.z.drop_beyond(farthest_covered(point), *kernels_);
        point.z.order(*kernels_, scratch_);
    }

    void batch_nearest(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        nearest_in_sets_.clear();
        double farthest = infinity;  // of the k nearest in one of the sets, in all columns
        for (const NearSet& set : point.sets_in_xz)
            if (set.distance < farthest) farthest = std::min(farthest, nearest_in_set(set, p, b));
        double* const rho = point.rho.data() + b * batch_size;
        double before[batch_size];
        if (far_ != nullptr) std::copy_n(rho, batch_size, before);
        const BatchNearest found = kernels_->batch_nearest(point.xz.ordered(), y_->batch(b), first_ + p,
                                                           nearest_in_sets_, fixed_->k(), patience_, room_.data(), rho);
        point.covered[b] = fixed_->terms().covering(found.largest);
        if (far_ != nullptr) {
            for (std::size_t l = 0; l < batch_size; ++l)
                if (is_alone(point, b, l)) rho[l] = before[l];
            cover(point, b);
        }
        if (along_y_ == nullptr || (found.open == 0 && point.covered[b] <= point.radius)) return;
        for (std::size_t l = 0; l < y_->columns_in(b); ++l)
            if ((found.open >> l & 1u) != 0 || fixed_->terms().covering(rho[l]) > point.radius)
                point.alone[b] |= 1u << l;
    }

    // Adds the distances to the k nearest of a set of points equal in (x, z), which are those nearest in y. Returns the
    // largest of these.
    double nearest_in_set(const NearSet& set, std::size_t p, std::size_t b) {
        const std::size_t at = nearest_in_sets_.size(), k = std::min(fixed_->k(), fixed_->sets()[set.number].points());
        nearest_in_sets_.resize(at + k * batch_size, set.distance);  // as it is in lanes without a column
        double largest = k < fixed_->k() ? infinity : set.distance;
        const BatchView y = y_->batch(b);
        const double* const own_y = y.values + (first_ + p) * batch_size;
        std::uint32_t place[batch_size];  // among the values
        if (set.own)
            for (std::size_t l = 0; l < batch_size; ++l) place[l] = y_->own_place(b, first_ + p, l);
        else
            kernels_->batch_smaller(y_->lines_among(set.number, b), y_->columns_in(b), own_y, place);
        for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
            const std::span<const double> values = y_->values_among(set.number, b, l);
            const double center = own_y[l];
            const double cap = y.caps == nullptr ? cap_of(false) : y.caps[l];
            auto below = values.begin() + static_cast<std::ptrdiff_t>(place[l]);
            auto above = set.own ? below + 1 : below;
            for (std::size_t j = 0; j < k; ++j) {
                double& nearest = nearest_in_sets_[at + j * batch_size + l];
                nearest = infinity;
                if (below == values.begin() && above == values.end()) continue;  // all others are among them
                const bool upward =
                    below == values.begin() || (above != values.end() && *above - center < center - *(below - 1));
                const double d = upward ? *above++ - center : center - *--below;
                nearest = std::max(set.distance, std::min(d, cap));
            }
            largest = std::max(largest, nearest_in_sets_[at + (k - 1) * batch_size + l]);
        }
        return largest;
    }

    BatchCounts counts_within(std::size_t p, std::size_t b) {
        Point& point = points_[p];
        const std::size_t self = first_ + p;
        const double* const rho = point.rho.data() + b * batch_size;
        const unsigned by_list = all_columns >> (batch_size - y_->columns_in(b)) & ~point.alone[b];
        double radius[batch_size], in_list[batch_size];
        kernels_->batch_radii(rho, fixed_->terms().reach(), all_columns, radius);
        if (by_list != all_columns) kernels_->batch_radii(rho, fixed_->terms().reach(), by_list, in_list);
        const double* const listed = by_list == all_columns ? radius : in_list;
        BatchCounts n;
        if (y_->columns_in(b) < batch_size) n = {};  // in the other lanes it may be left as it was
        std::fill_n(n.joint, batch_size, 0);         // for estimators that count no such
        if (fixed_->terms().mixed())
            kernels_->batch_within_y(point.xz.ordered(), y_->batch(b), self, listed, n.xz, n.joint);
        else
            kernels_->batch_within(point.xz.ordered(), listed, n.xz);
        for (const NearSet& set : point.sets_in_xz) count_set(set, b, self, listed, n.xz, n.joint);
        if (along_y_ != nullptr && point.alone[b] != 0) count_along_y(point, b, self, radius, n);
        if (fixed_->counts_by_line()) {
            kernels_->batch_line_within(y_->lines(b), y_->columns_in(b), y_->batch(b).values + self * batch_size,
                                        fixed_->z(self), radius, n.z, n.yz);
        } else {
            kernels_->batch_within_y(point.z.ordered(), y_->batch(b), self, listed, n.z, n.yz);
            for (const NearSet& set : point.sets_in_z) count_set(set, b, self, listed, n.z, n.yz);
            if (far_ != nullptr) count_far(point, b, self, radius, n);
        }
        if (point.covered[b] == infinity) count_everything(radius, n);
        return n;
    }

    // Adds the points of a set for the columns whose radius reaches it, and how many of them are also near in y.
    void count_set(const NearSet& set, std::size_t b, std::size_t self, const double* radius, std::int64_t* in_set,
                   std::int64_t* in_y) const {
        if (set.distance > *std::max_element(radius, radius + batch_size)) return;
        const std::int64_t own = set.own ? 1 : 0;
        const auto points = static_cast<std::int64_t>(fixed_->sets()[set.number].points());
        std::int64_t all[batch_size], near[batch_size];  // one less than there are
        kernels_->batch_line_within(y_->lines_among(set.number, b), y_->columns_in(b),
                                    y_->batch(b).values + self * batch_size, 0.0, radius, all, near);
        for (std::size_t l = 0; l < batch_size; ++l) {
            if (set.distance > radius[l]) continue;
            in_set[l] += points - own;
            in_y[l] += (l < y_->columns_in(b) ? near[l] + 1 : points) - own;
        }
    }

    // In (x, z) and the joint space, for the columns that were searched by themselves.
    void count_along_y(const Point& point, std::size_t b, std::size_t self, const double* radius,
                       BatchCounts& n) const {
        for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
            if (!is_alone(point, b, l)) continue;
            n.xz[l] = static_cast<std::int64_t>(along_y_->xz_within(self, radius[l]));
            if (!fixed_->terms().mixed()) continue;
            const RankedColumn& y = y_->ranked(b * batch_size + l);
            n.joint[l] = static_cast<std::int64_t>(along_y_->joint_within(y, self, radius[l]));
        }
    }

    // The same in all spaces, for z of two or more columns.
    void count_far(const Point& point, std::size_t b, std::size_t self, const double* radius, BatchCounts& n) const {
        for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
            const std::size_t j = b * batch_size + l;
            if (!is_alone(point, b, l)) continue;
            const FarNeighbors::Counts counts = far_->within(y_->ascending(j), self, radius[l]);
            n.xz[l] = static_cast<std::int64_t>(counts.xz);
            n.yz[l] = static_cast<std::int64_t>(counts.yz);
            n.z[l] = static_cast<std::int64_t>(counts.z);
            n.joint[l] = static_cast<std::int64_t>(counts.joint);
        }
    }

    // An infinite radius also reaches the infinities that fill the last block and the lists.
    void count_everything(const double* radius, BatchCounts& n) const {
        const auto others = static_cast<std::int64_t>(fixed_->points() - 1);
        for (std::size_t l = 0; l < batch_size; ++l)
            if (radius[l] == infinity) n.xz[l] = n.yz[l] = n.z[l] = n.joint[l] = others;
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr int most_tries = 20;

    const FixedSide* fixed_;
    const Kernels* kernels_;
    const BatchedColumns* y_;
    const AlongY* along_y_;
    const FarNeighbors* far_;
    NearBlocks near_;
    AlignedVector<double> room_;
    std::vector<double> sorted_;
    std::vector<double> alone_;  // cost of searching each column by itself
    double served_ = 1.0;
    std::size_t enough_ = 0;  // points in a list
    std::size_t patience_ = no_end;
    std::size_t longest_ = std::numeric_limits<std::size_t>::max();  // list, in places of its blocks
    std::vector<std::uint32_t> scratch_, blocks_apart_, blocks_in_sets_;
    std::vector<double> nearest_in_sets_;
    PointBuffer in_sets_;  // what is found of sets in z, which is not needed
    Point points_[block_size];
    std::size_t first_ = 0;  // position of the block's first point
    double guess_ = 0.0;     // the radius to try first, from what the block before needed
};

class BatchEngine final : public NeighborEngine {
public:
    BatchEngine(const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels& kernels,
                const Options& options)
        : fixed_(x, z, neighborhood, kernels), options_(options) {
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
    bool lists_may_grow_long(const BatchedColumns& y, bool same_values) const {
        if (fixed_.counts_by_line() || fixed_.points() <= longest_list(fixed_.points(), fixed_.k())) return false;
        const std::size_t batches = same_values ? 1 : y.batches();
        bool far = has_far_values(fixed_.x_points());
        for (std::size_t b = 0; b < batches && !far; ++b) far = has_far_values(y.by_position(b * batch_size));
        return far;
    }

    // Columns in memory at a time: about 128 MB of them, and at most 256. What they share is made anew for each part.
    std::size_t most_columns() const {
        constexpr std::size_t bytes = std::size_t{128} << 20;
        // Values, which are sorted again in sets of equal points, with cells; with a line also ranks, the grid, and the
        // rows in order of y.
        const std::size_t each = 8 + (fixed_.sets().empty() ? 0 : 47) + (fixed_.counts_by_line() ? 32 : 0);
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
        const BatchedColumns y({.rows = fixed_.order().rows(),
                                .stride = fixed_.geometry().stride,
                                .line = fixed_.counts_by_line() ? &fixed_.line() : nullptr,
                                .sets = fixed_.sets(),
                                .first_placed = fixed_.sets_in_z(),
                                .kernels = &fixed_.kernels()},
                               source, first, columns, options_);
        if (!far_ && lists_may_grow_long(y, static_cast<bool>(source.rows))) far_.emplace(fixed_);
        std::vector<BatchWalker> walkers(
            static_cast<std::size_t>(thread_count(options_)),
            BatchWalker(fixed_, y, along_y_ ? &*along_y_ : nullptr, far_ ? &*far_ : nullptr));
        parallel_for(fixed_.geometry().blocks, options_, [&](std::size_t block, int thread) {
            BatchWalker& walker = walkers[static_cast<std::size_t>(thread)];
            walker.walk(block, [&](std::size_t position, std::size_t batch, std::span<const BatchCounts> counts) {
                consume(position, batch, counts, thread);
            });
        });
    }

    FixedSide fixed_;
    Options options_;
    std::optional<AlongY> along_y_;
    std::optional<FarNeighbors> far_;
};

}  // namespace

std::unique_ptr<NeighborEngine> make_batch_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options) {
    return std::make_unique<BatchEngine>(x, z, neighborhood, kernels, options);
}

}  // namespace knnmi
