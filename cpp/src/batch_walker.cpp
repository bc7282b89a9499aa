#include "batch_walker.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "engines.hpp"
#include "growing_radius.hpp"

namespace knnmi {

BatchWalker::BatchWalker(const FixedSide& fixed, const BatchedColumns& y, const AlongY* along_y,
                         const FarNeighbors* far, const FarValues* far_values)
    : fixed_(&fixed),
      kernels_(&fixed.kernels()),
      y_(&y),
      along_y_(along_y),
      far_(far),
      far_values_(far_values),
      near_(fixed.geometry(), fixed.apart(), fixed.kernels()),
      room_(fixed.k() * 2 * batch_size),
      sampled_(1 + y.columns() / 64) {
    if (along_y == nullptr) return;
    x_line_ = along_y->x_line();
    longest_ = longest_list(fixed.points(), fixed.k());
    // Where x and y are independent, m points near in (x, z) and k n / m near in y have k of them in common. The
    // factors are as measured.
    const double balanced = std::sqrt(static_cast<double>(fixed.k() * fixed.points()));
    enough_ = static_cast<std::size_t>(3.0 * balanced);
    patience_ = static_cast<std::size_t>(2.0 * balanced);
}

void BatchWalker::find_nearest(std::size_t block, std::size_t points) {
    near_.move_to(block, guess_);
    for (std::size_t p = 0; p < points; ++p) points_[p].rho.resize(y_->batches() * batch_size);
    take_known(points);
    const double start = guess_ > 0.0 ? guess_ : near_.side();
    for (std::size_t p = 0; p < points; ++p) {
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

void BatchWalker::take_known(std::size_t points) {
    for (std::size_t b = 0; far_values_ != nullptr && b < y_->batches(); ++b)
        for (std::size_t p = 0; p < points; ++p) {
            if (known(p, b) == 0) continue;
            const double* const distances = far_values_->kth_distances(first_ + p, b);
            for (std::size_t l = 0; l < batch_size; ++l) points_[p].rho[b * batch_size + l] = distances[l];
        }
}

double BatchWalker::learnt_radius(std::size_t points) {
    double all[block_size];
    std::size_t many = 0;
    for (std::size_t p = 0; p < points; p += far_ != nullptr ? sampled_ : 1)
        all[many++] = along_y_ != nullptr ? radius_for_most(points_[p]) : needed(p);
    std::nth_element(all, all + many / 2, all + many);
    const double median = all[many / 2];
    if (along_y_ != nullptr) return median;
    if (far_ != nullptr) return 1.1 * median;
    double sum = 0.0;
    for (std::size_t i = 0; i < many; ++i) sum += std::min(all[i], 5.0 * median);  // some points are far out
    return 1.1 * sum / static_cast<double>(many);                                  // flat within a quarter
}

void BatchWalker::collect_enough(std::size_t p, double start) {
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

std::size_t BatchWalker::listed(const Point& point) const {
    std::size_t points = point.xz.size();
    for (const NearSet& set : point.sets_in_xz) points += fixed_->sets()[set.number].points();
    return points;
}

double BatchWalker::radius_for_most(const Point& point) const {
    const double listed = static_cast<double>(point.xz.size() + 1);
    const double scale = std::clamp(std::sqrt(static_cast<double>(enough_) / listed), 0.5, 2.0);
    return std::min(1.3 * farthest_covered(point), scale * std::max(0.0, point.radius));
}

double BatchWalker::needed_by(std::size_t p, double share) {
    find_searched(p);
    if (sorted_.empty()) return 0.0;
    const auto at = sorted_.begin() + last_of(share);
    std::nth_element(sorted_.begin(), at, sorted_.end());
    return fixed_->terms().covering(*at);
}

bool BatchWalker::reaches(std::size_t p, double share) {
    find_searched(p);
    const double radius = points_[p].radius;
    const auto covered = [&](double rho) { return fixed_->terms().covering(rho) <= radius; };
    return sorted_.empty() || std::count_if(sorted_.begin(), sorted_.end(), covered) > last_of(share);
}

void BatchWalker::find_searched(std::size_t p) {
    sorted_.clear();
    for (std::size_t b = 0; b < y_->batches(); ++b)
        for (std::size_t l = 0; l < y_->columns_in(b); ++l)
            if ((known(p, b) >> l & 1u) == 0) sorted_.push_back(points_[p].rho[b * batch_size + l]);
}

std::ptrdiff_t BatchWalker::last_of(double share) const {
    return static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted_.size() - 1));
}

void BatchWalker::choose_served(std::size_t p) {
    const Point& point = points_[p];
    alone_.clear();
    double least = infinity, best = 1.0, farthest = 0.0;
    for (std::size_t j = 0; j < y_->columns(); j += sampled_) {
        end_if_stopped();  // columns are sorted when they are first wanted, which may take a second for all
        const bool searches = (known(p, j / batch_size) >> j % batch_size & 1u) == 0;
        alone_.push_back(searches ? far_->cost(y_->ascending(j), first_ + p, point.rho[j]) : 0.0);
        // Lists must reach those that cannot be searched by themselves.
        if (alone_.back() == infinity) farthest = std::max(farthest, fixed_->terms().covering(point.rho[j]));
    }
    for (const double share : {1.0, 0.9, 0.75, 0.5, 0.25, 0.0}) {
        served_ = share;
        const double radius = std::max(needed(p), farthest);
        const double listed = 10.0 + 1.5 * static_cast<double>(y_->batches());
        const double radii[1 + batch_size] = {radius};
        std::uint32_t near[2];
        far_->z_within(first_ + p, radii, 1, near);
        double cost = listed * static_cast<double>(near[0] - 1);
        for (std::size_t i = 0; i < alone_.size(); ++i)
            if (fixed_->terms().covering(point.rho[i * sampled_]) > radius)
                cost += static_cast<double>(sampled_) * alone_[i];
        if (cost >= least) continue;
        least = cost;
        best = share;
    }
    served_ = best;
}

void BatchWalker::reach(std::size_t p, double radius) {
    const double before = points_[p].radius;
    collect(p, radius);
    end_if_stopped();
    for (std::size_t b = 0; b < y_->batches(); ++b)
        if (points_[p].covered[b] > before) batch_nearest(p, b);
}

void BatchWalker::reach_most(std::size_t p) {
    Point& point = points_[p];
    GrowingRadius radius(point.radius);
    const auto least = [&] {
        if (far_ == nullptr) return needed(p);
        return reaches(p, 0.5 * served_) ? 0.0 : needed_by(p, 0.5 * served_);
    };
    for (double wanted = least(); wanted > point.radius; wanted = least()) {
        radius.grow(wanted);
        reach(p, radius);
    }
}

void BatchWalker::reach_some(std::size_t p) {
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
        if (all < each * static_cast<double>(along_y_->to_list(first_ + p, radius)) || !find(p, radius)) return;
        point.xz.order(*kernels_, scratch_);
        for (std::size_t b = 0; b < y_->batches(); ++b) {
            if (point.alone[b] == 0) continue;
            end_if_stopped();
            point.alone[b] = 0;
            batch_nearest(p, b);
        }
    }
}

void BatchWalker::search_along_y(std::size_t p) {
    reach_some(p);
    Point& point = points_[p];
    for (std::size_t b = 0; b < y_->batches(); ++b) {
        if (point.alone[b] == 0) continue;
        end_if_stopped();
        for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
            if (!is_alone(point, b, l)) continue;
            double& rho = point.rho[b * batch_size + l];
            rho = along_y_->kth_distance(y_->ranked(b * batch_size + l), first_ + p, rho, fixed_->k(), room_.data());
        }
        cover(p, b, known(p, b));
    }
}

void BatchWalker::search_far(std::size_t p) {
    Point& point = points_[p];
    for (std::size_t b = 0; b < y_->batches(); ++b) {
        if (point.covered[b] <= point.radius) continue;
        end_if_stopped();
        for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
            const std::size_t j = b * batch_size + l;
            if ((known(p, b) >> l & 1u) != 0 || fixed_->terms().covering(point.rho[j]) <= point.radius) continue;
            const auto found = far_->kth_distance(y_->ascending(j), first_ + p, point.rho[j], room_.data());
            if (!found) continue;
            point.alone[b] |= 1u << l;
            point.rho[j] = *found;
        }
        cover(p, b, point.alone[b] | known(p, b));
    }
    GrowingRadius radius(point.radius);
    for (double wanted = farthest_covered(point); wanted > point.radius; wanted = farthest_covered(point)) {
        radius.grow(wanted);
        reach(p, radius);
    }
}

void BatchWalker::cover(std::size_t p, std::size_t b, unsigned without) {
    Point& point = points_[p];
    double largest = 0.0;
    for (std::size_t l = 0; l < y_->columns_in(b); ++l)
        if ((without >> l & 1u) == 0) largest = std::max(largest, point.rho[b * batch_size + l]);
    point.covered[b] = fixed_->terms().covering(largest);
}

void BatchWalker::collect(std::size_t p, double radius) {
    find(p, radius);
    points_[p].xz.order(*kernels_, scratch_);
}

bool BatchWalker::find(std::size_t p, double radius) {
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

BatchWalker::Near BatchWalker::apart_from_sets(Point& point, std::size_t p, double radius,
                                               std::span<const std::uint32_t> blocks) {
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

void BatchWalker::count_beyond(std::size_t p) {
    Point& point = points_[p];
    far_columns_.clear();
    for (std::size_t b = 0; b < y_->batches(); ++b) {
        double radius[batch_size], listed[batch_size];
        for (unsigned far = radii(point, b, radius, listed); far != 0; far &= far - 1) {
            const auto l = static_cast<std::size_t>(std::countr_zero(far));
            far_columns_.emplace_back(radius[l], b * batch_size + l);
        }
    }
    if (far_columns_.empty()) return;
    std::sort(far_columns_.begin(), far_columns_.end());
    far_radii_.resize(far_columns_.size() + batch_size);
    std::transform(far_columns_.begin(), far_columns_.end(), far_radii_.begin(),
                   [](const auto& far) { return far.first; });
    far_xz_.resize(far_columns_.size() + 1);
    far_z_.resize(far_columns_.size() + 1);
    far_->xz_within(first_ + p, far_radii_.data(), far_columns_.size(), far_xz_.data());
    far_->z_within(first_ + p, far_radii_.data(), far_columns_.size(), far_z_.data());
    point.beyond.resize(y_->columns());
    for (std::size_t i = 0; i < far_columns_.size(); ++i)
        point.beyond[far_columns_[i].second] = {far_xz_[i] - 1, far_z_[i] - 1};
}

void BatchWalker::prepare_z(std::size_t p) {
    Point& point = points_[p];
    if (far_ != nullptr) {
        point.listed_to = farthest_covered(point);
        count_beyond(p);
    }
    point.z.drop_beyond(farthest_covered(point), *kernels_);
    point.by_places = y_->placed() && point.z.size() >= PlacedNeighbors::enough;
    if (!point.by_places) {
        point.z.order(*kernels_, scratch_);
        return;
    }
    listed_.assign(y_->batches() * batch_size, -1.0);
    for (std::size_t b = 0; b < y_->batches(); ++b) {
        double radius[batch_size], listed[batch_size];
        radii(point, b, radius, listed);
        std::copy_n(listed, y_->columns_in(b), &listed_[b * batch_size]);
    }
    point.placed.rank(point.z.unordered(), point.z.size(), listed_, *kernels_);
}

void BatchWalker::batch_nearest(std::size_t p, std::size_t b) {
    Point& point = points_[p];
    nearest_in_sets_.clear();
    double farthest = infinity;  // of the k nearest in one of the sets, in all columns
    for (const NearSet& set : point.sets_in_xz)
        if (set.distance < farthest) farthest = std::min(farthest, nearest_in_set(set, p, b));
    double* const rho = point.rho.data() + b * batch_size;
    const unsigned wanted = all_columns & ~(point.alone[b] | known(p, b));
    const BatchNearest found = kernels_->batch_nearest(point.xz.ordered(), y_->batch(b), first_ + p, nearest_in_sets_,
                                                       wanted, fixed_->k(), patience_, room_.data(), rho);
    point.covered[b] = fixed_->terms().covering(found.largest);
    if (along_y_ == nullptr || (found.open == 0 && point.covered[b] <= point.radius)) return;
    for (std::size_t l = 0; l < y_->columns_in(b); ++l)
        if ((wanted >> l & 1u) != 0 && ((found.open >> l & 1u) != 0 || fixed_->terms().covering(rho[l]) > point.radius))
            point.alone[b] |= 1u << l;
}

double BatchWalker::nearest_in_set(const NearSet& set, std::size_t p, std::size_t b) {
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

std::span<const BatchCounts> BatchWalker::counts_of(std::size_t points, std::size_t b) {
    end_if_stopped();
    for (std::size_t p = 0; p < points; ++p) {
        if (points_[p].by_places && b * batch_size % four_batches == 0)
            points_[p].placed.count(y_->placed(b), first_ + p, b, *kernels_);
        count_in_lists(p, b);
    }
    if (fixed_->counts_by_line())
        kernels_->batch_line_within(y_->lines(b), y_->columns_in(b),
                                    {.count = points,
                                     .y = y_->batch(b).values + first_ * batch_size,
                                     .z = fixed_->z() + first_,
                                     .radius = radius_[0],
                                     .beside_x = &x_line_,
                                     .x = fixed_->geometry().coordinates + first_,
                                     .wanted = beyond_},
                                    counts_);
    for (std::size_t p = 0; p < points; ++p)
        if (points_[p].covered[b] == infinity) count_everything(radius_[p], counts_[p]);
    return {counts_, points};
}

unsigned BatchWalker::radii(const Point& point, std::size_t b, double* radius, double* listed) const {
    const double limit = far_ != nullptr ? point.listed_to : along_y_ != nullptr ? point.radius : infinity;
    const unsigned beyond =
        kernels_->batch_radii(point.rho.data() + b * batch_size, fixed_->terms().reach(), limit, radius, listed);
    return beyond & all_columns >> (batch_size - y_->columns_in(b));
}

void BatchWalker::count_in_lists(std::size_t p, std::size_t b) {
    Point& point = points_[p];
    const std::size_t self = first_ + p;
    double listed[batch_size], *const radius = radius_[p];
    const unsigned beyond = radii(point, b, radius, listed);
    beyond_[p] = beyond;
    BatchCounts& n = counts_[p];
    if (y_->columns_in(b) < batch_size) n = {};  // in the other lanes it may be left as it was
    std::fill_n(n.joint, batch_size, 0);         // for estimators that count no such
    if (fixed_->terms().mixed())
        kernels_->batch_within_y(point.xz.ordered(), y_->batch(b), self, listed, n.xz, n.joint);
    else
        kernels_->batch_within(point.xz.ordered(), listed, n.xz);
    for (const NearSet& set : point.sets_in_xz) count_set(set, b, self, listed, n.xz, n.joint);
    if (fixed_->terms().mixed() && along_y_ != nullptr && beyond != 0) count_along_y(p, b, beyond, radius, n);
    if (fixed_->counts_by_line()) return;
    if (point.by_places) {
        std::copy_n(point.placed.within(b), batch_size, n.z);
        std::copy_n(point.placed.within_y(b), batch_size, n.yz);
    } else {
        kernels_->batch_within_y(point.z.ordered(), y_->batch(b), self, listed, n.z, n.yz);
    }
    for (const NearSet& set : point.sets_in_z) count_set(set, b, self, listed, n.z, n.yz);
    if (beyond != 0) count_far(p, b, beyond, radius, n);
}

void BatchWalker::count_set(const NearSet& set, std::size_t b, std::size_t self, const double* radius,
                            std::int64_t* in_set, std::int64_t* in_y) const {
    if (set.distance > *std::max_element(radius, radius + batch_size)) return;
    const std::int64_t own = set.own ? 1 : 0;
    const auto points = static_cast<std::int64_t>(fixed_->sets()[set.number].points());
    BatchCounts near;  // one less than there are
    kernels_->batch_line_within(
        y_->lines_among(set.number, b), y_->columns_in(b),
        {.count = 1, .y = y_->batch(b).values + self * batch_size, .z = nullptr, .radius = radius}, &near);
    for (std::size_t l = 0; l < y_->columns_in(b); ++l) {
        if (set.distance > radius[l]) continue;
        in_set[l] += points - own;
        in_y[l] += near.yz[l] + 1 - own;
    }
}

void BatchWalker::count_along_y(std::size_t p, std::size_t b, unsigned columns, const double* radius,
                                BatchCounts& n) const {
    for (; columns != 0; columns &= columns - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(columns));
        n.joint[l] = (known(p, b) >> l & 1u) != 0 ? far_values_->within(first_ + p, b, l).joint
                                                  : static_cast<std::int64_t>(along_y_->joint_within(
                                                        y_->ranked(b * batch_size + l), first_ + p, radius[l]));
    }
}

void BatchWalker::count_far(std::size_t p, std::size_t b, unsigned columns, const double* radius,
                            BatchCounts& n) const {
    for (; columns != 0; columns &= columns - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(columns));
        const std::size_t j = b * batch_size + l;
        const CountsAlongY y = (known(p, b) >> l & 1u) != 0 ? far_values_->within(first_ + p, b, l)
                                                            : far_->within(y_->ascending(j), first_ + p, radius[l]);
        n.yz[l] = y.yz;
        n.joint[l] = y.joint;
        n.xz[l] = points_[p].beyond[j].xz;
        n.z[l] = points_[p].beyond[j].z;
    }
}

void BatchWalker::count_everything(const double* radius, BatchCounts& n) const {
    const auto others = static_cast<std::int64_t>(fixed_->points() - 1);
    for (std::size_t l = 0; l < batch_size; ++l)
        if (radius[l] == infinity) n.xz[l] = n.yz[l] = n.z[l] = n.joint[l] = others;
}

}  // namespace knnmi
