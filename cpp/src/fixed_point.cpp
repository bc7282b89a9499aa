#include "fixed_point.hpp"

#include <algorithm>

namespace knnmi {
namespace {

// psi(1) = -gamma and psi(m + 1) = psi(m) + 1/m in whole numbers of 2^-95: the same bits on every platform, whatever
// its logarithm. A step is off by less than one unit, so the 2^32 steps that fit are together off by less than 2^-63.
class Recurrence {
public:
    // Call with m = 1, 2, ... below 2^32, to go from psi(m) to psi(m + 1).
    void step(std::uint64_t m) {
        constexpr std::uint64_t one = std::uint64_t{1} << 63;
        psi_ += (static_cast<Sum>(one / m) << 32) + static_cast<Sum>(((one % m) << 32) / m);
    }

    // In units of 2^-bits, rounded to nearest.
    Sum value(int bits) const { return (psi_ + (Sum{1} << (94 - bits))) >> (95 - bits); }

private:
    Sum psi_ = -((Sum{0x49e233f1} << 64) + Sum{0xbed863d268df1fc1u});  // the Euler-Mascheroni constant, truncated
};

}  // namespace

void add_up(const std::vector<std::vector<Sum>>& parts, std::span<Sum> out) {
    std::fill(out.begin(), out.end(), Sum{0});
    for (const std::vector<Sum>& part : parts)
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += part[i];
}

DigammaTable::DigammaTable(std::size_t n) : values_(n + 1) {
    Recurrence psi;
    for (std::size_t m = 1; m <= n; ++m) {
        values_[m] = static_cast<std::int64_t>(psi.value(48));
        psi.step(m);
    }
}

double digamma(std::size_t m) {
    Recurrence psi;
    for (std::size_t j = 1; j < m; ++j) psi.step(j);
    return static_cast<double>(psi.value(60)) / 0x1p60;
}

double estimate_from(Sum sum, int k, std::size_t n) {
    const DigammaTable psi(static_cast<std::size_t>(k));
    const Sum difference = static_cast<Sum>(n) * psi[static_cast<std::size_t>(k)] - sum;
    return static_cast<double>(difference) / (static_cast<double>(n) * fixed_point_scale);
}

}  // namespace knnmi
