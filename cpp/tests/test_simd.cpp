// The operations of every instruction set that this machine has; the others are reported.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernels/kernels.hpp"

using namespace knnmi;
using namespace knnmi::test;

// In a file each, compiled for the set: what does not hold, or null.
const char* check_plain(const double* drawn, std::size_t vectors);
#ifdef KNNMI_X86
const char* check_avx2(const double* drawn, std::size_t vectors);
const char* check_avx512(const double* drawn, std::size_t vectors);
#endif

namespace {

// Ordinary, equal, subnormal, huge, signed zeros, infinities, and what is not a number.
std::vector<double> drawn_values(std::size_t how_many) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, 1.0, -1.0, 1e-310, -1e-310, 1e308, -1e308, infinity, -infinity, std::nan("")};
    std::mt19937_64 draw(1);
    std::vector<double> drawn(how_many);
    for (double& value : drawn)
        value = draw() % 3 == 0 ? special[draw() % std::size(special)] : static_cast<double>(draw() % 2001) / 7 - 100;
    return drawn;
}

void check_if_usable(const std::string& name, const char* (*check)(const double*, std::size_t)) {
    const auto sets = usable_kernels();
    if (std::none_of(sets.begin(), sets.end(), [&](const Kernels* set) { return set->name == name; })) {
        std::printf("not run: this machine has no %s\n", name.c_str());
        return;
    }
    constexpr std::size_t vectors = 64;
    const char* const failure = check(drawn_values(8 * vectors).data(), vectors);
    if (failure != nullptr) std::printf("%s: %s\n", name.c_str(), failure);
    CHECK(failure == nullptr);
}

}  // namespace

TEST(operations_of_plain_code) { check_if_usable("plain", check_plain); }

#ifdef KNNMI_X86
TEST(operations_of_avx2) { check_if_usable("avx2", check_avx2); }

TEST(operations_of_avx512) { check_if_usable("avx512", check_avx512); }
#endif

int main() { return run_tests(); }
