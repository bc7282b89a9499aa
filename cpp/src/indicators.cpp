#include "indicators.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace knnmi {

RowMajor with_indicators(const Points& points) {
    std::vector<double> least(points.columns());
    std::vector<std::size_t> digits(points.columns());  // 0: no category
    std::size_t columns = 0;
    for (std::size_t j = 0; j < points.columns(); ++j) {
        if (points.is_category(j)) {
            double most = least[j] = points(0, j);
            for (std::size_t i = 1; i < points.rows(); ++i) {
                least[j] = std::min(least[j], points(i, j));
                most = std::max(most, points(i, j));
            }
            digits[j] = static_cast<std::size_t>(
                std::bit_width(std::max(std::uint64_t{1}, static_cast<std::uint64_t>(most - least[j]))));
        }
        columns += std::max<std::size_t>(digits[j], 1);
    }
    RowMajor expanded(points.rows(), columns);
    for (std::size_t i = 0; i < points.rows(); ++i) {
        double* out = expanded[i];
        for (std::size_t j = 0; j < points.columns(); ++j) {
            if (digits[j] == 0) {
                *out++ = points(i, j);
                continue;
            }
            const auto code = static_cast<std::uint64_t>(points(i, j) - least[j]);
            for (std::size_t digit = 0; digit < digits[j]; ++digit) *out++ = static_cast<double>(code >> digit & 1u);
        }
    }
    return expanded;
}

}  // namespace knnmi
