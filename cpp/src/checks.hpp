// The conditions on input that the public functions share. What does not meet them is std::invalid_argument.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "knnmi/points.hpp"

namespace knnmi {

inline void check_finite(const Points& points, const char* name) {
    for (std::size_t i = 0; i < points.rows(); ++i) {
        for (std::size_t j = 0; j < points.columns(); ++j) {
            if (std::isfinite(points(i, j))) continue;
            throw std::invalid_argument(std::string(name) + " holds a value that is not finite, in row " +
                                        std::to_string(i) + ", column " + std::to_string(j) + " (counted from 0)");
        }
    }
}

inline void check_categories(const Points& points, const char* name) {
    for (std::size_t j = 0; j < points.columns(); ++j) {
        if (!points.is_category(j)) continue;
        for (std::size_t i = 0; i < points.rows(); ++i) {
            if (points(i, j) == std::round(points(i, j)) && std::abs(points(i, j)) < 0x1p31) continue;
            throw std::invalid_argument(std::string(name) + ", column " + std::to_string(j) +
                                        ": categories must be whole numbers below 2^31");
        }
    }
}

inline void check_neighbors(int k, std::size_t rows) {
    if (rows > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("at most 2^32 - 1 rows can be used");
    if (k >= 1 && static_cast<std::size_t>(k) < rows) return;
    throw std::invalid_argument("k must be at least 1 and less than the number of rows, but k is " + std::to_string(k) +
                                " and there are " + std::to_string(rows) + " rows");
}

inline void check_sample(const Points& x, const Points& y, const Points& z, int k) {
    if (x.empty() || y.empty()) throw std::invalid_argument("x and y need at least one column each");
    if (y.rows() != x.rows() || (!z.empty() && z.rows() != x.rows())) {
        throw std::invalid_argument("x, y and z must have the same number of rows, but have " +
                                    std::to_string(x.rows()) + ", " + std::to_string(y.rows()) + " and " +
                                    std::to_string(z.rows()));
    }
    check_neighbors(k, x.rows());
    check_finite(x, "x");
    check_finite(y, "y");
    check_finite(z, "z");
    check_categories(x, "x");
    check_categories(y, "y");
    check_categories(z, "z");
}

}  // namespace knnmi
