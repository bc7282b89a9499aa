// Categories as columns of numbers, for what measures numbers only.
#pragma once

#include "knnmi/points.hpp"
#include "row_major.hpp"

namespace knnmi {

// One row after another, categories as indicators: columns in which rows of the same category are 0 apart and others 1,
// in the max norm. They are the binary digits of the category's number: of two numbers one digit differs at least.
RowMajor with_indicators(const Points& points);

}  // namespace knnmi
