#include <random>
#include <string>

#include "brute_force.hpp"
#include "check.hpp"
#include "data_families.hpp"
#include "engines.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

struct Shape {
    std::size_t n, dx, dy, dz;
    int k;
};

// x, y and z side by side.
struct Problem {
    Sample sample;
    Shape shape;

    Points x() const { return sample.view(0, shape.dx); }
    Points y() const { return sample.view(shape.dx, shape.dy); }
    Points z() const { return sample.view(shape.dx + shape.dy, shape.dz); }
};

Problem problem(const Family& family, const Shape& shape, std::uint64_t seed) {
    return {family.make(shape.n, shape.dx + shape.dy + shape.dz, seed), shape};
}

void check_against_brute_force(const Family& family, const Shape& shape, std::uint64_t seed) {
    const Problem p = problem(family, shape, seed);
    const Options options{.engine = Engine::tree, .threads = static_cast<int>(seed % 3)};
    const bool right =
        neighbor_counts(p.x(), p.y(), p.z(), shape.k, options) == brute_force_counts(p.x(), p.y(), p.z(), shape.k);
    if (!right) {
        std::printf("%s: n=%zu, columns of x, y, z: %zu %zu %zu, k=%d\n", family.name, shape.n, shape.dx, shape.dy,
                    shape.dz, shape.k);
    }
    CHECK(right);
}

}  // namespace

TEST(counts_vs_brute_force) {
    std::mt19937_64 draw(1);
    for (std::uint64_t i = 0; i < share_of(400); ++i) {
        Shape shape;
        shape.n = 4 + draw() % (i % 8 == 0 ? 297 : 60);
        shape.dx = 1 + draw() % 3;
        shape.dy = 1 + draw() % 3;
        shape.dz = draw() % 11;
        shape.k = static_cast<int>(1 + draw() % std::min<std::size_t>(shape.n - 1, 16));
        check_against_brute_force(data_families[(i / 8 + i) % std::size(data_families)], shape, draw());
    }
}

TEST(counts_vs_brute_force_on_many_points) {
    const std::size_t n = share_of(700);
    for (const Family& family : data_families) {
        check_against_brute_force(family, {n, 1, 1, 0, 3}, 1);
        check_against_brute_force(family, {n, 2, 3, 0, 3}, 2);
        check_against_brute_force(family, {n, 1, 1, 1, 3}, 3);
        check_against_brute_force(family, {n, 1, 2, 3, 3}, 4);
    }
}

TEST(k_up_to_all_other_points) {
    for (const Family& family : data_families) {
        check_against_brute_force(family, {2, 1, 1, 1, 1}, 1);
        check_against_brute_force(family, {40, 1, 1, 0, 39}, 2);
        check_against_brute_force(family, {40, 2, 1, 2, 39}, 3);
    }
}

// More points than one thread takes for itself, so that both ways of sharing out the work are used.
TEST(sums_are_the_same_for_any_number_of_threads) {
    for (const std::size_t n : {200u, 5200u}) {
        for (const std::size_t dz : {0u, 2u}) {
            const Problem p = problem(data_families[0], {n, 2, 2, dz, 3}, 5);
            const ColumnSource source{[&](std::size_t index, std::span<double> out) {
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t j = 0; j < 2; ++j) out[2 * i + j] = p.y()((i + index) % n, j);
                }
            }};
            std::vector<Sum> expected;
            for (int threads = 1; threads <= 4; ++threads) {
                const auto engine = make_tree_engine(p.x(), p.z(), 3, {.threads = threads});
                std::vector<Sum> all(3), parts(3);
                engine->sums(source, 2, 0, all);
                engine->sums(source, 2, 0, std::span(parts).first(1));
                engine->sums(source, 2, 1, std::span(parts).subspan(1));
                CHECK(all == parts);
                if (expected.empty()) expected = all;
                CHECK(all == expected);
            }
        }
    }
}

int main() { return run_tests(); }
