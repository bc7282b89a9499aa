// Every engine, on every instruction set and thread count, gives the counts of the definition; and sums of digammas
// that are the same bits whatever the engine.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "brute_force.hpp"
#include "check.hpp"
#include "data_families.hpp"
#include "engines.hpp"
#include "kernels/kernels.hpp"
#include "placed_neighbors.hpp"
#include "sorted_column.hpp"
#include "spatial_order.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

// x is column 0, z columns 1 to dz, and what follows are y's.
struct Problem {
    Sample sample;
    std::size_t dz;
    Neighborhood neighborhood;

    Points x() const { return sample.view(0, 1); }
    Points z() const { return sample.view(1, dz); }
    Points y(std::size_t j) const { return sample.view(1 + dz + j, 1); }
    std::size_t columns() const { return sample.columns - 1 - dz; }

    ColumnSource source() const {
        return {.write =
                    [this](std::size_t j, std::span<double> out) {
                        for (std::size_t i = 0; i < out.size(); ++i) out[i] = y(j)(i, 0);
                    },
                .is_category = [this](std::size_t j, std::size_t) { return y(j).is_category(0); }};
    }
};

using MakeEngine = std::unique_ptr<NeighborEngine> (*)(const Points&, const Points&, const Neighborhood&,
                                                       const Kernels&, const Options&);

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

constexpr struct {
    const char* name;
    std::size_t least, most;  // columns of z that it serves
    MakeEngine make;
    bool category = false;  // serves a z of one category only
} engines[] = {{"plane", 0, 0,
                [](const Points& x, const Points&, const Neighborhood& neighborhood, const Kernels& set,
                   const Options& options) { return make_plane_engine(x, neighborhood, set, options); }},
               {"space", 1, 1, make_space_engine},
               {"category", 1, 1, make_category_engine, true},
               {"single", 1, any, make_single_engine},
               {"batch", 1, any, make_batch_engine},
               {"tree", 0, any,
                [](const Points& x, const Points& z, const Neighborhood& neighborhood, const Kernels&,
                   const Options& options) { return make_tree_engine(x, z, neighborhood, options); }}};

bool serves(const auto& engine, const Problem& problem) {
    if (engine.category && !problem.z().is_category(0)) return false;
    return problem.dz >= engine.least && problem.dz <= engine.most;
}

// Of the definitions: Frenzel and Pompe 2007; Mesner and Shalizi 2019 and Grassberger 1988, with psi(k) added.
Sum sum_of_digammas(const NeighborCounts& n, const Problem& problem) {
    const DigammaTable digamma(n.z.size());
    const bool mixed = problem.neighborhood.estimator == Estimator::mixed;
    const std::size_t self = mixed ? 0 : 1, self_in_z = mixed && problem.dz > 0 ? 0 : 1;
    Sum sum = 0;
    for (std::size_t i = 0; i < n.z.size(); ++i) {
        sum += digamma[n.xz[i] + self] + digamma[n.yz[i] + self] - digamma[n.z[i] + self_in_z];
        if (!n.joint.empty())
            sum += digamma[static_cast<std::size_t>(problem.neighborhood.k)] - digamma[n.joint[i] + self];
    }
    return sum;
}

// By brute force, of each y.
struct Expected {
    explicit Expected(const Problem& problem) {
        for (std::size_t j = 0; j < problem.columns(); ++j) {
            counts.push_back(brute_force_counts(problem.x(), problem.y(j), problem.z(), problem.neighborhood));
            sums.push_back(sum_of_digammas(counts.back(), problem));
        }
    }

    std::vector<NeighborCounts> counts;
    std::vector<Sum> sums;
};

void check_against_brute_force(const Problem& problem, const Options& options, const std::string& what) {
    const Expected expected(problem);
    const std::size_t middle = problem.columns() / 2;

    for (const Kernels* const set : usable_kernels()) {
        for (const auto& engine : engines) {
            if (!serves(engine, problem)) continue;
            const auto made = engine.make(problem.x(), problem.z(), problem.neighborhood, *set, options);
            std::vector<Sum> sums(problem.columns());
            made->sums(problem.source(), 1, 0, sums);
            const bool right =
                made->counts(problem.source(), 1, middle) == expected.counts[middle] && sums == expected.sums;
            if (!right && failures() < 20) std::printf("%s, %s: %s\n", engine.name, set->name, what.c_str());
            CHECK(right);
        }
    }
}

// Of every other sample some columns, with a few values each.
Sample with_categories(Sample sample, std::mt19937_64& draw) {
    if (draw() % 2 == 0) return sample;
    sample.categories.resize(sample.columns);
    for (std::size_t j = 0; j < sample.columns; ++j) {
        if (draw() % 2 == 0) continue;
        sample.categories[j] = 1;
        const std::uint64_t levels = 1 + draw() % 7;
        for (std::size_t i = 0; i < sample.rows; ++i) sample(i, j) = 3.0 * static_cast<double>(draw() % levels) - 4.0;
    }
    return sample;
}

void check_drawn_problems(std::size_t how_many, std::size_t most_points, std::uint64_t seed) {
    std::mt19937_64 draw(seed);
    for (std::size_t i = 0; i < how_many; ++i) {
        const Family& family = data_families[i % std::size(data_families)];
        const std::size_t n = 4 + draw() % (most_points - 3);
        const std::size_t dz = draw() % 11;
        const int k = static_cast<int>(1 + draw() % std::min<std::size_t>(n - 1, 16));
        const std::size_t columns = 1 + draw() % 11;
        Options options;
        options.threads = static_cast<int>(1 + draw() % 4);
        const auto estimator = draw() % 2 == 0 ? Estimator::ksg : Estimator::mixed;
        const Problem problem{with_categories(family.make(n, 1 + dz + columns, draw()), draw), dz, {k, estimator}};
        check_against_brute_force(problem, options,
                                  std::string(family.name) + ", n=" + std::to_string(n) + ", dz=" + std::to_string(dz) +
                                      ", k=" + std::to_string(k) + (estimator == Estimator::mixed ? ", mixed" : "") +
                                      ", columns=" + std::to_string(columns));
    }
}

}  // namespace

TEST(few_points_against_brute_force) { check_drawn_problems(share_of(320), 60, 1); }

TEST(some_points_against_brute_force) { check_drawn_problems(share_of(48), 400, 2); }

TEST(many_points_against_brute_force) {
    std::size_t n = share_of(500);
    for (const std::size_t dz : {0u, 1u, 3u, 10u})
        for (const Family& family : data_families)
            for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                check_against_brute_force({family.make(n += share_of(17), 2 + dz, 3), dz, {3, estimator}}, {},
                                          std::string(family.name) + ", many points, dz=" + std::to_string(dz));
    check_against_brute_force({gaussian(share_of(3000), 4, 3), 2, 3}, {}, "3000 points, dz=2");
}

// So many that lists of points that coincide would be too long, and of the larger ones that windows in z are counted by
// the grid.
TEST(grids_and_long_lists_against_brute_force) {
    std::size_t more = 0;
    for (const Family& family : std::span(data_families).first(share_of(std::size(data_families))))
        for (const std::size_t dz : {0u, 1u}) {
            const Estimator estimator = more % 2 == 0 ? Estimator::mixed : Estimator::ksg;
            const std::size_t n = (dz == 0 || looks_for_races ? 2100 : 8200) + (more += 5);
            check_against_brute_force({family.make(n, 2 + dz, 3), dz, {2, estimator}}, {},
                                      std::string(family.name) + ", grid, dz=" + std::to_string(dz));
        }
}

// So many points that are equal in several columns of z that they are counted as sets; others in categories that are
// small.
TEST(points_equal_in_several_columns_against_brute_force) {
    std::mt19937_64 draw(9);
    std::size_t n = 1100;
    for (const Family& family : std::span(data_families).first(share_of(std::size(data_families))))
        for (const std::uint64_t levels : {0u, 3u, 800u}) {
            n += 7;
            Sample sample = family.make(n, 1 + 2 + 3, n);
            sample.categories.assign(levels == 0 ? 0 : sample.columns, 0);
            for (std::size_t j = 0; levels > 0 && j < sample.columns; ++j) {
                if (draw() % 2 == 0) continue;
                sample.categories[j] = 1;
                for (std::size_t i = 0; i < sample.rows; ++i) sample(i, j) = static_cast<double>(draw() % levels);
            }
            const Estimator estimator = draw() % 3 == 0 ? Estimator::ksg : Estimator::mixed;
            check_against_brute_force({sample, 2, {3, estimator}}, {.threads = static_cast<int>(1 + n % 2)},
                                      std::string(family.name) + ", equal in z, levels=" + std::to_string(levels));
        }
}

// So many points that are equal in x and in z of one column that they are counted as sets, with others near them and
// one infinitely far away.
TEST(points_equal_in_x_and_z_against_brute_force) {
    std::mt19937_64 draw(17);
    std::size_t n = 700, number = 0;
    for (const double scale : {1.0, 1e308})
        for (const bool in_z : {false, true})
            for (const int k : {1, 3, 20, 240})
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed}) {
                    n += 3;
                    if (!in_share(number++)) continue;
                    Sample sample = gaussian(n, 2 + 9, n);
                    for (std::size_t i = 0; i < n; ++i)
                        for (std::size_t j = 0; j < sample.columns; ++j) {
                            const double value = std::tanh(sample(i, j));
                            sample(i, j) = scale * (j % 3 == 2 ? value : std::max(value, j == 0 ? 0.1 : -0.1));
                        }
                    for (std::size_t j = 0; j < sample.columns; ++j) sample(n / 2, j) = -scale;
                    if (in_z) {  // a category, and some y's that are
                        sample.categories.resize(sample.columns);
                        for (std::size_t j = 1; j < sample.columns; ++j) {
                            if (j > 1 && draw() % 2 == 0) continue;
                            sample.categories[j] = 1;
                            for (std::size_t i = 0; i < n; ++i) sample(i, j) = static_cast<double>(draw() % 2);
                        }
                    }
                    check_against_brute_force({sample, 1, {k, estimator}}, {.threads = static_cast<int>(1 + n % 2)},
                                              "equal in x and z, k=" + std::to_string(k) +
                                                  (in_z ? ", categories" : "") + (scale > 1.0 ? ", huge" : ""));
                }
}

// So many points that a y whose neighbours are far away is searched by itself, with ties, categories, and differences
// that overflow.
TEST(heavy_tails_in_several_columns_against_brute_force) {
    std::mt19937_64 draw(11);
    std::size_t n = 1300;
    for (const double scale : {1.0, 1e300})
        for (const bool tied : {false, true})
            for (const std::size_t dz : {2u, 3u}) {
                n += 3;
                Sample sample = heavy_tails(n, 1 + dz + share_of(9), n);
                for (double& value : sample.values)
                    value = std::clamp(scale * (tied ? std::round(value) : value), -1.7e308, 1.7e308);
                if (scale == 1.0 && tied) sample = with_categories(sample, draw);
                const Estimator estimator = tied ? Estimator::mixed : Estimator::ksg;
                check_against_brute_force({sample, dz, {1, estimator}}, {.threads = static_cast<int>(1 + n % 2)},
                                          "heavy tails, dz=" + std::to_string(dz) + (tied ? ", tied" : ""));
            }
}

// So many columns that some are searched by themselves.
TEST(many_columns_against_brute_force) {
    for (const std::size_t dz : {0u, 1u})
        for (const Family& family : std::span(data_families).first(share_of(std::size(data_families))))
            for (const Estimator estimator : {Estimator::ksg, Estimator::mixed}) {
                std::mt19937_64 draw(5);
                check_against_brute_force({with_categories(family.make(150, 1 + dz + 45, 5), draw), dz, {3, estimator}},
                                          {}, std::string(family.name) + ", 45 columns, dz=" + std::to_string(dz));
            }
}

// So many columns and points that eight planes are looked at together, run after run: neighbours are found along x,
// along y, or in their plane. Some threads share out the points of the same planes.
TEST(planes_side_by_side_against_brute_force) {
    std::size_t n = 120;
    for (const Family& family : std::span(data_families).first(share_of(std::size(data_families))))
        for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
            for (const int k : {1, 4, 16})
                check_against_brute_force(
                    {family.make(n += 11, 1 + 13, n), 0, {k, estimator}}, {.threads = static_cast<int>(1 + n % 4)},
                    std::string(family.name) + ", side by side, n=" + std::to_string(n) + ", k=" + std::to_string(k));
}

TEST(many_neighbours_against_brute_force) {
    for (const int k : {17, 40, 119})
        for (const std::size_t dz : {0u, 1u, 4u})
            for (const Family& family : data_families)
                check_against_brute_force({family.make(120, 2 + dz + share_of(9), 4), dz, k}, {},
                                          std::string(family.name) + ", k=" + std::to_string(k));
}

// Differences that overflow: one row is infinitely far from all the others, on both axes.
TEST(infinite_distances_against_brute_force) {
    constexpr double far = 1.7e308, step = 1e300;
    for (const std::size_t dz : {0u, 1u})
        for (const std::size_t n : {20u, 90u})
            for (const int k : {1, 2, 5, 17}) {
                Sample sample = gaussian(n, 2 + dz + 3, 10);
                for (double& value : sample.values) value = step * value - far;
                for (std::size_t j = 0; j < sample.columns; ++j) sample(0, j) = j == 4 + dz ? -far : far;
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                    check_against_brute_force({sample, dz, {k, estimator}}, {},
                                              "infinite, n=" + std::to_string(n) + ", k=" + std::to_string(k));
            }
}

// Differences of a few times the least number, where a product with a number just below 1 is rounded back.
TEST(least_distances_against_brute_force) {
    std::mt19937_64 draw(11);
    for (const std::size_t dz : {0u, 1u})
        for (const std::size_t n : {60u, 200u})
            for (const int k : {1, 2, 3, 17}) {
                Sample sample{n, 2 + dz + 3, std::vector<double>(n * (5 + dz))};
                std::vector<std::size_t> places(n);
                std::iota(places.begin(), places.end(), std::size_t{0});
                for (std::size_t j = 0; j < sample.columns; ++j) {
                    for (std::size_t i = 0; i < n; ++i) sample(i, j) = static_cast<double>(places[i]) * 0x1p-1074;
                    std::shuffle(places.begin(), places.end(), draw);
                }
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                    check_against_brute_force({sample, dz, {k, estimator}}, {},
                                              "least, n=" + std::to_string(n) + ", k=" + std::to_string(k));
            }
}

// Values of few levels beside ones of many, so that windows begin among equal values on one axis or on both.
TEST(levels_beside_levels_against_brute_force) {
    std::mt19937_64 draw(12);
    for (const std::uint64_t few : {1u, 2u, 30u})
        for (const int k : {1, 4, 20}) {
            const std::size_t n = 300;
            Sample sample{n, 1 + 3, std::vector<double>(n * 4)};
            for (std::size_t i = 0; i < n; ++i) {
                sample(i, 0) = static_cast<double>(draw() % few);
                sample(i, 1) = static_cast<double>(draw() % 90) / 90;
                sample(i, 2) = static_cast<double>(draw() % 30);
                sample(i, 3) = static_cast<double>(draw() % 100000);
            }
            for (const bool with_categories : {false, true}) {
                if (with_categories) sample.categories = {1, 0, 1, 1};
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                    check_against_brute_force({sample, 0, {k, estimator}}, {},
                                              "levels, few=" + std::to_string(few) + ", k=" + std::to_string(k));
            }
        }
}

// Categories of many levels beside numbers that differ by less: then the k-th neighbour is at distance 1, with very
// many.
TEST(categories_beside_small_numbers_against_brute_force) {
    std::mt19937_64 draw(13);
    for (std::size_t which = 0; which < 3; ++which)
        for (const std::uint64_t levels : {2u, 40u, 300u})
            for (const int k : {1, 3, 20}) {
                Sample sample{200, 2 + 3, std::vector<double>(200 * 5)};
                sample.categories.resize(sample.columns);
                for (std::size_t j = 0; j < sample.columns; ++j) {
                    sample.categories[j] = std::min<std::size_t>(j, 2) == which ? 1 : 0;
                    for (std::size_t i = 0; i < sample.rows; ++i)
                        sample(i, j) = sample.categories[j] != 0 ? static_cast<double>(draw() % levels)
                                                                 : static_cast<double>(draw() % 1000) / 1000;
                }
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                    check_against_brute_force({sample, 1, {k, estimator}}, {},
                                              "category " + std::to_string(which) +
                                                  ", levels=" + std::to_string(levels) + ", k=" + std::to_string(k));
            }
}

// A category in z of few rows each: the k-th neighbour is among them, at distance 1 with very many, or beyond, by the
// scale of x and y. The larger samples are counted by the grid.
TEST(small_categories_against_brute_force) {
    std::mt19937_64 draw(16);
    std::size_t n = 180;
    for (const double scale : {0.01, 1.0, 30.0, 1e308})
        for (const std::uint64_t levels : {2u, 15u, 90u})
            for (const int k : {1, 3, 20})
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed}) {
                    if (!in_share(++n)) continue;
                    Sample sample = k == 1 ? heavy_tails(n, 2 + 9, n) : gaussian(n, 2 + 9, n);
                    for (double& value : sample.values)
                        value = scale * (scale == 1e308 ? std::tanh(value) : k == 3 ? std::round(value) : value);
                    sample = with_categories(sample, draw);
                    sample.categories.resize(sample.columns);
                    sample.categories[1] = 1;
                    for (std::size_t i = 0; i < n; ++i) sample(i, 1) = static_cast<double>(draw() % levels);
                    check_against_brute_force({sample, 1, {k, estimator}}, {.threads = static_cast<int>(1 + n % 2)},
                                              "small categories, levels=" + std::to_string(levels) +
                                                  ", k=" + std::to_string(k) + ", scale=" + std::to_string(scale));
                }
    for (const bool tied : {false, true}) {
        Sample sample = heavy_tails(share_of(8'200), 2 + 1, 16);
        for (double& value : sample.values) value = tied ? std::round(value) : value;
        sample.categories = {0, 1, 0};
        for (std::size_t i = 0; i < sample.rows; ++i) sample(i, 1) = static_cast<double>(draw() % 1'000);
        check_against_brute_force({sample, 1, {3, tied ? Estimator::mixed : Estimator::ksg}}, {},
                                  "small categories in many rows");
    }
}

// Several categories in z, alone or beside a number, with few rows each and with many.
TEST(several_categories_against_brute_force) {
    std::mt19937_64 draw(15);
    std::size_t number = 0;
    for (const std::uint64_t levels : {8u, 2u, 30u})
        for (const std::size_t numbers : {1u, 0u})
            for (const Estimator estimator : {Estimator::ksg, Estimator::mixed}) {
                if (!in_share(number++)) continue;
                const std::size_t dz = 2 + numbers;
                Sample sample = gaussian(1'050, 1 + dz + 5, levels);
                sample.categories.assign(sample.columns, 0);
                for (const std::size_t j : {std::size_t{1}, dz}) {
                    sample.categories[j] = 1;
                    for (std::size_t i = 0; i < sample.rows; ++i) sample(i, j) = static_cast<double>(draw() % levels);
                }
                const Problem problem{sample, dz, {3, estimator}};
                const Points y = problem.y(0);
                const Expected expected(problem);
                for (const bool permuted : {false, true}) {
                    const auto made = make_engine(problem.x(), problem.z(), problem.neighborhood, 1,
                                                  permuted ? 200 : problem.columns(), {}, permuted ? &y : nullptr);
                    std::vector<Sum> sums(problem.columns());
                    made->sums(problem.source(), 1, 0, sums);
                    CHECK(sums == expected.sums);
                    for (std::size_t j = 0; j < problem.columns(); ++j)
                        CHECK(made->counts(problem.source(), 1, j) == expected.counts[j]);
                }
            }
}

// Rows of y number 0 in another order, some of them repeated and some left out.
void check_rows_of_one_column(const Family& family, std::size_t n, std::size_t dz, const Neighborhood& neighborhood,
                              bool repeated, std::mt19937_64& draw, const Options& options = {}) {
    const std::size_t columns = 20;  // in parts of two batches and one
    Sample sample = with_categories(family.make(n, 1 + dz + columns, 6), draw);
    if (!sample.categories.empty())
        for (std::size_t j = 1; j < columns; ++j) sample.categories[1 + dz + j] = sample.categories[1 + dz];
    std::vector<std::vector<std::uint32_t>> rows(columns, std::vector<std::uint32_t>(n));
    for (std::size_t j = 0; j < columns; ++j) {
        std::iota(rows[j].begin(), rows[j].end(), 0u);
        if (j == 0) continue;
        std::shuffle(rows[j].begin(), rows[j].end(), draw);
        for (std::size_t i = 0; repeated && i < n; i += 3) rows[j][i] = rows[j][(i + 1) % n];
        for (std::size_t i = 0; i < n; ++i) sample(i, 1 + dz + j) = sample(rows[j][i], 1 + dz);
    }
    const Problem problem{sample, dz, neighborhood};
    ColumnSource source = problem.source();
    source.rows = [&](std::size_t j, std::span<std::uint32_t> out) {
        std::copy(rows[j].begin(), rows[j].end(), out.begin());
    };
    const Expected expected(problem);
    for (const auto& engine : engines) {
        if (!serves(engine, problem)) continue;
        for (const Kernels* const set : usable_kernels()) {
            const auto made = engine.make(problem.x(), problem.z(), problem.neighborhood, *set, options);
            std::vector<Sum> sums(columns);
            made->sums(source, 1, 0, std::span(sums).first(12));
            made->sums(source, 1, 12, std::span(sums).subspan(12));
            CHECK(sums == expected.sums);
            CHECK(made->counts(source, 1, 7) == expected.counts[7]);
        }
    }
}

TEST(rows_of_one_column_against_brute_force) {
    std::mt19937_64 draw(14);
    std::size_t number = 0;
    for (const std::size_t dz : {0u, 1u, 2u})
        for (const bool repeated : {false, true}) {
            if (dz == 0 && repeated) continue;  // without z each row comes once
            for (const Family& family : data_families)
                for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
                    if (in_share(number++)) check_rows_of_one_column(family, 150, dz, {3, estimator}, repeated, draw);
        }
}

// So many points that they are looked at run after run, along x and along y. Some threads share out those of the same
// planes.
TEST(rows_of_one_column_in_planes_against_brute_force) {
    std::mt19937_64 draw(17);
    std::size_t n = 290;
    for (const Family& family : std::span(data_families).first(share_of(std::size(data_families))))
        for (const Estimator estimator : {Estimator::ksg, Estimator::mixed})
            for (const int k : {1, 4, 16})
                check_rows_of_one_column(family, n += 5, 0, {k, estimator}, false, draw,
                                         {.threads = static_cast<int>(1 + n / 5 % 4)});
}

// With so many rows that large sets of them are equal in x and z.
TEST(rows_of_one_column_in_sets_against_brute_force) {
    const Family half_equal{"half equal", [](std::size_t n, std::size_t d, std::uint64_t seed) {
                                Sample sample = gaussian(n, d, seed);
                                for (double& value : sample.values) value = std::max(value, 0.0);
                                return sample;
                            }};
    std::mt19937_64 draw(15);
    std::size_t number = 0;
    for (const Family& family : {half_equal, Family{"two values", two_values}})
        for (const Estimator estimator : {Estimator::mixed, Estimator::ksg})
            for (const std::size_t dz : {1u, 2u})
                if (in_share(number++))
                    check_rows_of_one_column(family, 1'800, dz, {3, estimator}, estimator == Estimator::mixed, draw);
}

// So many that lists would grow long; without ties, or with them and a column of two values.
TEST(rows_of_one_column_far_out_against_brute_force) {
    const Family tied{"rounded heavy tails", [](std::size_t n, std::size_t d, std::uint64_t seed) {
                          Sample sample = heavy_tails(n, d, seed);
                          for (double& value : sample.values) value = std::round(value / 10);
                          for (std::size_t i = 0; i < n; ++i) sample(i, 1) = i % 2 == 0 ? 1.0 : 30.0;
                          return sample;
                      }};
    std::mt19937_64 draw(16);
    const std::size_t conditions[] = {2, 1, 3};
    for (const std::size_t dz : std::span(conditions).first(share_of(3))) {
        check_rows_of_one_column({"heavy tails", heavy_tails}, 1'800, dz, {3, Estimator::ksg}, false, draw);
        if (share_of(2) == 2) check_rows_of_one_column(tied, 1'800, dz, {3, Estimator::mixed}, false, draw);
    }
}

// For columns that fill the four batches or do not, places that are exact or rounded, and more points than one stretch.
TEST(neighbors_by_places_and_ranks_against_brute_force) {
    std::mt19937_64 draw(18);
    const std::size_t n = 500, stride = 512;
    for (const Family& family : data_families)
        for (const std::size_t columns : {1u, 8u, 21u, 32u})
            for (const std::size_t shift : {0u, 1u, 4u}) {
                std::vector<double> values = values_of(family.make(n, 1, n).view(0, 1));
                const SortedColumn sorted(values);
                const std::span<const double> ascending = sorted.values();
                AlignedVector<double> y(four_batches * stride);
                AlignedVector<std::uint16_t> places(four_batches * stride);
                std::vector<std::size_t> at(n);  // places, by position
                std::iota(at.begin(), at.end(), std::size_t{0});
                const auto value = [&](std::size_t column, std::size_t p) -> double& {
                    return y[(column / batch_size * stride + p) * batch_size + column % batch_size];
                };
                for (std::size_t column = 0; column < columns; ++column) {
                    std::shuffle(at.begin(), at.end(), draw);
                    for (std::size_t p = 0; p < n; ++p) {
                        value(column, p) = ascending[at[p]];
                        places[four_batches * p + column] = static_cast<std::uint16_t>(at[p] >> shift);
                    }
                }
                const std::size_t self = draw() % n, listed = share_of(8) < 8 ? 3'000 : 40'000;
                std::vector<double> distance(listed + batch_size), radius(four_batches + batch_size, -1.0);
                std::vector<std::uint32_t> position(listed);
                for (std::size_t i = 0; i < listed; ++i) {
                    distance[i] = std::abs(values[draw() % n] - values[draw() % n]);
                    do position[i] = static_cast<std::uint32_t>(draw() % n);
                    while (position[i] == self);
                }
                for (std::size_t column = 0; column < columns; ++column)  // every fifth is of no account
                    if (column % 5 != 4) radius[column] = column % 5 == 0 ? 0.0 : distance[draw() % listed];
                std::int64_t in_list[four_batches] = {}, in_both[four_batches] = {};
                for (std::size_t column = 0; column < columns; ++column)
                    for (std::size_t i = 0; i < listed; ++i) {
                        if (distance[i] > radius[column]) continue;
                        ++in_list[column];
                        const double in_y = std::abs(value(column, position[i]) - value(column, self));
                        in_both[column] += in_y <= radius[column];
                    }
                for (const Kernels* const set : usable_kernels()) {
                    PlacedNeighbors near;
                    near.rank({distance.data(), position.data()}, listed,
                              std::span(radius).first((columns + batch_size - 1) / batch_size * batch_size), *set);
                    near.count({.places = places.data(),
                                .shift = shift,
                                .sorted = &sorted.view(),
                                .values = y.data(),
                                .columns = columns,
                                .stride = stride * batch_size},
                               self, 0, *set);
                    for (std::size_t column = 0; column < columns; ++column) {
                        if (radius[column] < 0.0) continue;
                        CHECK(near.within(column / batch_size)[column % batch_size] == in_list[column]);
                        CHECK(near.within_y(column / batch_size)[column % batch_size] == in_both[column]);
                    }
                }
            }
}

// Every place of a y, ends included, for radii that hold few or all.
TEST(neighbors_along_y_against_brute_force) {
    for (const Family& family : data_families)
        for (const std::size_t n : {8u, 9u, 15u, 16u, 17u, 40u, 200u})
            for (const double cap : {cap_of(false), cap_of(true)}) {
                Sample sample = family.make(n, 3, n);
                const std::vector<std::uint32_t> rows = ascending_rows(sample.view(1, 1));
                const std::vector<std::uint16_t> short_rows(rows.begin(), rows.end());
                const std::vector<double> x = values_of(sample.view(0, 1)), z = values_of(sample.view(2, 1));
                const std::vector<const double*> columns{z.data(), x.data()};
                const std::vector<double> caps{cap, cap_of(false)};
                std::vector<double> y;
                for (const std::uint32_t row : rows) y.push_back(sample(row, 1));
                for (const Kernels* const set : usable_kernels())
                    for (const bool is_short : {false, true}) {
                        const OrderedRows ordered{.points = n,
                                                  .y = y.data(),
                                                  .rows = rows.data(),
                                                  .short_rows = is_short ? short_rows.data() : nullptr,
                                                  .y_cap = cap,
                                                  .columns = columns,
                                                  .caps = caps};
                        for (std::size_t place = 0; place < n; ++place) {
                            const std::size_t row = rows[place];
                            std::vector<double> in_yz, in_all;
                            for (std::size_t i = 0; i < n; ++i) {
                                if (i == row) continue;
                                in_yz.push_back(std::min(
                                    std::max(std::abs(sample(i, 1) - sample(row, 1)), std::abs(z[i] - z[row])), cap));
                                in_all.push_back(std::max(in_yz.back(), std::abs(x[i] - x[row])));
                            }
                            std::sort(in_all.begin(), in_all.end());
                            const auto within = [](const std::vector<double>& distances, double radius) {
                                return static_cast<std::size_t>(std::count_if(distances.begin(), distances.end(),
                                                                              [&](double d) { return d <= radius; }));
                            };
                            for (const std::size_t k : {1u, 3u, 7u}) {
                                std::vector<double> room(2 * k + batch_size);
                                const double kth = in_all[k - 1];
                                const auto nearest = [&](double bound, std::size_t most) {
                                    return set->nearest_along(ordered, row, place, bound, most, k, room.data());
                                };
                                for (const double bound : {kth, 0.5 * kth, 2.0 * kth, cap_of(false)})
                                    CHECK(nearest(bound, no_end) == std::min(kth, bound));
                                const double early = nearest(cap_of(false), 50);
                                CHECK(early == kth || (early == -1.0 && n > 50));
                                const CountsAlongY counts = set->within_along(ordered, row, place, kth);
                                CHECK(counts.joint == within(in_all, kth) && counts.yz == within(in_yz, kth));
                            }
                        }
                    }
            }
}

// Every place of eight columns of the same values, for radii that hold few or all.
TEST(neighbors_by_place_against_brute_force) {
    std::mt19937_64 draw(17);
    for (const Family& family : data_families)
        for (const std::size_t n : {8u, 9u, 40u, 200u})
            for (const std::size_t dimensions : {2u, 3u})
                for (const double cap : {cap_of(false), cap_of(true)}) {
                    Sample sample = family.make(n, 1 + dimensions, n);
                    std::vector<double> values = values_of(sample.view(0, 1));
                    std::sort(values.begin(), values.end());
                    std::vector<std::vector<std::uint32_t>> rows(batch_size, std::vector<std::uint32_t>(n));
                    for (std::vector<std::uint32_t>& column : rows) {
                        std::iota(column.begin(), column.end(), 0u);
                        std::shuffle(column.begin(), column.end(), draw);
                    }
                    std::vector<double> y(n + 2 * place_margin, std::numeric_limits<double>::infinity());
                    std::fill_n(y.begin(), place_margin, -std::numeric_limits<double>::infinity());
                    std::copy(values.begin(), values.end(), y.begin() + place_margin);
                    std::vector<double> others(y.size() * dimensions * batch_size);
                    const auto other = [&](std::size_t place, std::size_t c) {
                        return others.data() + ((place + place_margin) * dimensions + c) * batch_size;
                    };
                    for (std::size_t place = 0; place < n; ++place)
                        for (std::size_t c = 0; c < dimensions; ++c)
                            for (std::size_t l = 0; l < batch_size; ++l)
                                other(place, c)[l] = sample(rows[l][place], 1 + c);
                    std::vector<double> caps(dimensions, cap_of(false));
                    caps.front() = cap;
                    const PlacedColumns placed{.y = y.data() + place_margin,
                                               .others = other(0, 0),
                                               .dimensions = dimensions,
                                               .caps = cap == cap_of(true) ? caps.data() : nullptr};
                    for (std::size_t place = 0; place < n; place += 1 + n / share_of(40))
                        for (const std::size_t k : {1u, 3u, 7u}) {
                            double kth[batch_size];
                            std::int64_t but_last[batch_size] = {}, all[batch_size] = {};
                            for (std::size_t l = 0; l < batch_size; ++l) {
                                std::vector<double> in_but_last, in_all;
                                for (std::size_t i = 0; i < n; ++i) {
                                    if (i == place) continue;
                                    double d = std::abs(values[i] - values[place]);
                                    for (std::size_t c = 0; c < dimensions; ++c) {
                                        if (c + 1 == dimensions) in_but_last.push_back(d);
                                        d = std::max(d,
                                                     std::min(std::abs(other(i, c)[l] - other(place, c)[l]), caps[c]));
                                    }
                                    in_all.push_back(d);
                                }
                                std::vector<double> sorted = in_all;
                                std::sort(sorted.begin(), sorted.end());
                                kth[l] = sorted[k - 1];
                                for (std::size_t i = 0; i + 1 < n; ++i) {
                                    but_last[l] += in_but_last[i] <= kth[l];
                                    all[l] += in_all[i] <= kth[l];
                                }
                            }
                            for (const Kernels* const set : usable_kernels()) {
                                std::vector<double> room(2 * batch_size * k);
                                double found[batch_size];
                                CHECK(set->nearest_by_place(placed, place, n, k, room.data(), found) == 0);
                                CHECK(std::equal(found, found + batch_size, kth));
                                const unsigned open = set->nearest_by_place(placed, place, 20, k, room.data(), found);
                                for (std::size_t l = 0; l < batch_size; ++l)
                                    CHECK((open >> l & 1u) != 0 ? n > 20 && found[l] >= kth[l] : found[l] == kth[l]);
                                if (*std::max_element(kth, kth + batch_size) == cap_of(false)) continue;
                                std::int64_t in_but_last[batch_size], in_all[batch_size];
                                set->within_by_place(placed, place, kth, in_but_last, in_all);
                                CHECK(std::equal(but_last, but_last + batch_size, in_but_last));
                                CHECK(std::equal(all, all + batch_size, in_all));
                            }
                        }
                }
}

// Boxes that are near as a whole, in part and not, and the last ones, which are not full.
TEST(points_within_boxes_against_brute_force) {
    std::mt19937_64 draw(10);
    for (const Family& family : data_families)
        for (const std::size_t n : {1u, 15u, 16u, 17u, 127u, 129u, 1'030u, 3'000u})
            for (const std::size_t dimensions : {1u, 2u, 4u}) {
                const Sample sample = with_categories(family.make(n, dimensions, n), draw);
                const SpatialOrder order({sample.all()});
                const Geometry geometry = order.geometry();
                for (std::size_t position = 0; position < n; position += 1 + n / 20) {
                    std::vector<double> center, distances(n);
                    for (std::size_t c = 0; c < dimensions; ++c) {
                        const double* const along = geometry.coordinates + c * geometry.stride;
                        center.push_back(along[position]);
                        for (std::size_t i = 0; i < n; ++i)
                            distances[i] = std::max(distances[i], std::min(std::abs(along[i] - along[position]),
                                                                           cap_of(geometry.categories[c] != 0)));
                    }
                    std::sort(distances.begin(), distances.end());
                    for (const std::size_t many : {0u, 1u, 5u, 8u, 30u}) {
                        std::vector<double> radius;
                        for (std::size_t i = 0; i < many; ++i) radius.push_back(distances[draw() % n]);
                        std::sort(radius.begin(), radius.end());
                        std::vector<std::uint32_t> expected;
                        for (const double each : radius)
                            expected.push_back(static_cast<std::uint32_t>(
                                std::upper_bound(distances.begin(), distances.end(), each) - distances.begin()));
                        radius.resize(many + batch_size);
                        for (const Kernels* const set : usable_kernels()) {
                            std::vector<std::uint32_t> found(many + 1);
                            set->within_boxes(geometry, n, center.data(), radius.data(), many, found.data());
                            found.pop_back();
                            CHECK(found == expected);
                        }
                    }
                }
            }
}

void check_space_beside_tree(const Problem& problem) {
    std::vector<Sum> sums(problem.columns()), expected(problem.columns());
    make_space_engine(problem.x(), problem.z(), problem.neighborhood, kernels(), {})
        ->sums(problem.source(), 1, 0, sums);
    make_tree_engine(problem.x(), problem.z(), problem.neighborhood, {})->sums(problem.source(), 1, 0, expected);
    CHECK(sums == expected);
}

// More points than brute force can take in time, and as many as there can be: the tree's sums are those of brute force
// above.
TEST(a_space_of_many_points_beside_the_tree) {
    std::size_t number = 0;
    for (const bool tied : {false, true}) {
        if (!in_share(number++)) continue;
        Sample sample = heavy_tails(looks_for_races ? 5'000 : most_places, 2 + 2, most_places);
        if (tied)
            for (double& value : sample.values) value = std::round(value);
        check_space_beside_tree({sample, 1, {3, tied ? Estimator::mixed : Estimator::ksg}});
    }
    for (const Family& family : data_families)
        if (in_share(number++)) check_space_beside_tree({family.make(24'000, 2 + 3, 8), 1, {20, Estimator::mixed}});
}

// Permutations of a discrete y, for which an engine is chosen by what is equal.
TEST(an_engine_is_chosen_for_discrete_permutations) {
    std::mt19937_64 draw(9);
    for (const std::size_t levels : {2u, 5u, 12u})
        for (const Estimator estimator : {Estimator::ksg, Estimator::mixed}) {
            Sample sample = integers(1'200, 3, levels);
            for (double& value : sample.values) value = std::fmod(value, static_cast<double>(levels));
            const Points x = sample.view(0, 1), y = sample.view(1, 1), z = sample.view(2, 1);
            std::vector<std::vector<std::uint32_t>> rows(20, std::vector<std::uint32_t>(sample.rows));
            for (std::vector<std::uint32_t>& order : rows) {
                std::iota(order.begin(), order.end(), 0u);
                if (&order != &rows.front()) std::shuffle(order.begin(), order.end(), draw);
            }
            const ColumnSource source{
                .write =
                    [&](std::size_t j, std::span<double> out) {
                        for (std::size_t i = 0; i < out.size(); ++i) out[i] = y(rows[j][i], 0);
                    },
                .rows = [&](std::size_t j,
                            std::span<std::uint32_t> out) { std::copy(rows[j].begin(), rows[j].end(), out.begin()); }};
            std::vector<Sum> sums(rows.size()), expected(rows.size());
            const Neighborhood neighborhood{3, estimator};
            make_engine(x, z, neighborhood, 1, rows.size(), {}, &y)->sums(source, 1, 0, sums);
            make_tree_engine(x, z, neighborhood, {})->sums(source, 1, 0, expected);
            CHECK(sums == expected);
        }
}

// All columns of one estimate may be taken in parts, from any index on.
TEST(columns_can_be_taken_in_parts) {
    for (const std::size_t dz : {0, 1, 2}) {
        const Problem problem{gaussian(150, 1 + dz + 40, 5), dz, 3};
        for (const auto& engine : engines) {
            if (!serves(engine, problem)) continue;
            const auto made = engine.make(problem.x(), problem.z(), problem.neighborhood, kernels(), {});
            std::vector<Sum> all(problem.columns()), parts(problem.columns());
            made->sums(problem.source(), 1, 0, all);
            for (std::size_t first = 0; first < parts.size(); first += 13)
                made->sums(problem.source(), 1, first,
                           std::span(parts).subspan(first, std::min<std::size_t>(13, parts.size() - first)));
            CHECK(all == parts);
        }
    }
}

// Permutations are sorted once, and what only looks like one is not taken for it: a y with the same values in other
// numbers, and one with a value of its own at the end.
TEST(columns_that_share_values) {
    for (const std::size_t dz : {0u, 1u, 2u})
        for (const Family& family : data_families) {
            Problem problem{family.make(120, 1 + dz + 12, 6), dz, 3};
            const auto y = [&](std::size_t i, std::size_t j) -> double& { return problem.sample(i, 1 + dz + j); };
            std::vector<double> values(120);
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = y(i, 0);
            std::mt19937_64 generator(7);
            for (std::size_t j = 1; j < problem.columns(); ++j) {
                std::shuffle(values.begin(), values.end(), generator);
                for (std::size_t i = 0; i < values.size(); ++i) y(i, j) = values[i];
            }
            y(0, 3) = y(1, 3);
            y(119, 5) = 0.25;
            check_against_brute_force(problem, {}, std::string(family.name) + ", shared values");
        }
}

// Whatever engine is named: there is one only.
TEST(cells_against_brute_force) {
    std::mt19937_64 draw(8);
    for (std::size_t i = 0; i < share_of(160); ++i) {
        const Family& family = data_families[i % std::size(data_families)];
        const std::size_t n = 4 + draw() % 200, dz = draw() % 4, columns = 1 + draw() % 11;
        const Problem problem{with_categories(family.make(n, 1 + dz + columns, draw()), draw),
                              dz,
                              {1 + static_cast<int>(draw() % 3), Estimator::cells}};
        const Expected expected(problem);
        for (const Engine engine : {Engine::automatic, Engine::tree, Engine::single, Engine::batch}) {
            const Options options{.engine = engine, .threads = static_cast<int>(1 + draw() % 4)};
            const auto made = make_engine(problem.x(), problem.z(), problem.neighborhood, 1, columns, options);
            std::vector<Sum> sums(columns);
            made->sums(problem.source(), 1, 0, sums);
            CHECK(sums == expected.sums);
            for (std::size_t j = 0; j < columns; ++j) CHECK(made->counts(problem.source(), 1, j) == expected.counts[j]);
        }
    }
}

// Several columns in x and in y are told apart as one.
TEST(cells_of_several_columns) {
    const Sample sample = integers(150, 6, 9);
    const Points x = sample.view(0, 2), y = sample.view(2, 3), z = sample.view(5, 1);
    const Neighborhood neighborhood(3, Estimator::cells);
    CHECK(neighbor_counts(x, y, z, neighborhood) == brute_force_counts(x, y, z, neighborhood));
}

int main() { return run_tests(); }
