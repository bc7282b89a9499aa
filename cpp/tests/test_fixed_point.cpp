#include <cmath>
#include <iterator>
#include <limits>

#include "check.hpp"
#include "fixed_point.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

// To 20 digits, by mpmath.
constexpr struct {
    std::size_t m;
    double psi;
} known[] = {{1, -0.57721566490153286061},   {2, 0.42278433509846713939},     {3, 0.92278433509846713939},
             {10, 2.2517525890667211076},    {100, 4.6001618527380874002},    {1000, 6.9072551956488120521},
             {20000, 9.9034625523277947122}, {1000000, 13.815510057964190771}};

}  // namespace

TEST(digamma_is_right_to_the_last_bit) {
    for (const auto& [m, psi] : known) CHECK(digamma(m) == psi);
}

TEST(table_holds_rounded_digammas) {
    const DigammaTable table(1000000);
    for (const auto& [m, psi] : known) {
        const double scaled = psi * fixed_point_scale;  // exact: the scale is a power of two
        CHECK(std::abs(static_cast<double>(table[m]) - scaled) <= 0.5 + std::abs(scaled) * 0x1p-53);
    }
}

TEST(estimate_of_equal_terms) {
    const DigammaTable table(500);
    CHECK(estimate_from(Sum{500} * table[7], 7, 500) == 0.0);
    const double difference = estimate_from(Sum{500} * table[500], 4, 500);
    CHECK(std::abs(difference - (digamma(4) - digamma(500))) < 4e-15);
}

// 3 * 12 * 2^48 times 10^6 points does not fit 64 bits.
TEST(sums_of_many_terms_do_not_overflow) {
    const DigammaTable table(1000000);
    const Sum sum = Sum{1000000} * (2 * Sum{table[1000000]} - table[1]);
    CHECK(std::abs(estimate_from(sum, 3, 1000000) - (digamma(3) + digamma(1) - 2 * digamma(1000000))) < 1e-14);
}

int main() { return run_tests(); }
