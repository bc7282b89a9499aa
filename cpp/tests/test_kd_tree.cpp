// nanoflann's own search of the max norm loses neighbours (upstream issue 265); this one must not.
#include <algorithm>
#include <cmath>
#include <limits>

#include "brute_force.hpp"
#include "check.hpp"
#include "data_families.hpp"
#include "kd_tree.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

void check_against_brute_force(const Points& points, int k) {
    const KdTree tree(points);
    KSmallest nearest(k);
    for (std::size_t position = 0; position < points.rows(); ++position) {
        const std::size_t row = tree.rows()[position];
        const double rho = brute_force_kth_distance(points, row, k);
        CHECK(tree.kth_distance(position, nearest) == rho);
        for (const double radius :
             {0.0, shrunken(rho), rho, 3 * rho, 30 * rho, std::numeric_limits<double>::infinity()}) {
            std::uint32_t within = 0;
            for (std::size_t j = 0; j < points.rows(); ++j) within += max_norm(points, row, j) <= radius;
            CHECK(tree.count(tree.points()[position], radius) == within);
        }
    }
}

}  // namespace

TEST(nanoflann_vs_brute_force) {
    for (const Family& family : data_families) {
        for (std::size_t d = 1; d <= 10; ++d) {
            const int before = failures();
            check_against_brute_force(family.make(300, d, d).all(), 5);
            check_against_brute_force(family.make(120, d, d).all(), 40);
            if (failures() != before) std::printf("%s, %zu columns\n", family.name, d);
        }
    }
}

// The data of the upstream issue's kind: 2000 points, leaves of which are pruned only when there are many.
TEST(nanoflann_vs_brute_force_on_many_points) {
    for (const std::size_t d : {2u, 3u, 5u, 8u}) check_against_brute_force(gaussian(2000, d, 7).all(), 5);
}

TEST(fewer_points_than_a_leaf) {
    for (const std::size_t n : {2u, 3u, 16u, 17u}) {
        for (const Family& family : data_families) {
            check_against_brute_force(family.make(n, 3, n).all(), 1);
            check_against_brute_force(family.make(n, 3, n).all(), static_cast<int>(n) - 1);
        }
    }
}

TEST(equal_points_of_any_value) {
    for (const double value : {0.0, 1.0, -1.0, 1e308, -1e308, 1e-310, -1e-310}) {
        const Sample sample{300, 2, std::vector<double>(600, value)};
        check_against_brute_force(sample.all(), 3);
    }
}

// Balls around points that hold whole branches of the tree, and points that lie just on their surface.
TEST(branches_that_lie_within_are_counted_as_a_whole) {
    constexpr std::size_t n = 2'000;
    for (const Sample& sample : {gaussian(n, 2, 3), two_values(n, 2, 3)}) {
        const KdTree tree(sample.all());
        for (const double radius : {0.0, 0.5, 1.0, 6.0}) {
            for (std::size_t i = 0; i < n; i += 37) {
                std::size_t within = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    within += std::max(std::abs(tree.points()[i][0] - tree.points()[j][0]),
                                       std::abs(tree.points()[i][1] - tree.points()[j][1])) <= radius;
                }
                CHECK(tree.count(tree.points()[i], radius) == within);
            }
        }
    }
}

// One column far below the other's largest difference, which is infinite.
TEST(differences_that_overflow) {
    Sample sample = gaussian(300, 2, 1);
    for (std::size_t i = 0; i < 300; ++i) {
        sample(i, 0) = 1.5 + 0.001 * static_cast<double>(i);
        sample(i, 1) = i % 2 == 0 ? 1.7e308 : -1.7e308;
    }
    check_against_brute_force(sample.all(), 3);
}

TEST(positions_are_an_order_of_the_rows) {
    const Sample sample = gaussian(500, 3, 2);
    const KdTree tree(sample.all());
    std::vector<bool> seen(500);
    for (std::size_t p = 0; p < 500; ++p) {
        const std::size_t row = tree.rows()[p];
        CHECK(!seen[row]);
        seen[row] = true;
        for (std::size_t j = 0; j < 3; ++j) CHECK(tree.points()[p][j] == sample.all()(row, j));
    }
}

int main() { return run_tests(); }
