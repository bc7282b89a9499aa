// Digamma of whole numbers in fixed point, so that sums of it are exactly associative.
//
// Equal counts then give equal bits whatever the order of summation, and a permuted estimate ties with the observed one
// exactly when their counts do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace knnmi {

__extension__ using Sum = __int128;  // n * 3 * 12 * 2^48 passes 2^63 from n = 900 on

inline constexpr double fixed_point_scale = 281474976710656.0;  // 2^48: one term is off by at most 2e-15

// out[i] = the sum of part[i] over the parts, one of each thread, which may be longer.
void add_up(const std::vector<std::vector<Sum>>& parts, std::span<Sum> out);

// table[m] = round(psi(m) * 2^48) for m = 1..n; table[0] is unused.
class DigammaTable {
public:
    explicit DigammaTable(std::size_t n);
    std::int64_t operator[](std::size_t m) const { return values_[m]; }

private:
    std::vector<std::int64_t> values_;
};

double digamma(std::size_t m);  // m >= 1, to about 1 ulp

// psi(k) - sum / (n * 2^48): the estimate from the summed terms psi(n_xz + 1) + psi(n_yz + 1) - psi(n_z + 1). psi(k) is
// taken from the table, so that the estimate is exactly 0 where every term is psi(k).
double estimate_from(Sum sum, int k, std::size_t n);

}  // namespace knnmi
