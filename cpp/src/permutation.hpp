// Permutations among rows that are neighbours in z. Those over all rows are public: knnmi/permutation_test.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knnmi/options.hpp"
#include "knnmi/points.hpp"
#include "philox.hpp"

namespace knnmi {

// Restricted permutations (Runge 2018, Algorithm 1, http://proceedings.mlr.press/v84/runge18a.html): the rows are
// visited in random order, and each takes the first row not yet taken from its own neighbours in random order, or the
// last of these when all are taken. So a row may be used twice and another not at all, and the result need not be a
// permutation.
class LocalPermutations {
public:
    // A row's neighbours are itself and the m - 1 nearest other rows of z. Among equally distant rows those that follow
    // it come first, the last row being followed by row 0: then rows with equal z do not all have the same few
    // neighbours.
    LocalPermutations(const Points& z, int m, const Options& options);

    std::vector<std::uint32_t> draw(RandomWords random) const;

    // For tests: m rows for each row.
    const std::vector<std::uint32_t>& neighbors() const { return neighbors_; }

private:
    std::size_t rows_, each_;
    std::vector<std::uint32_t> neighbors_;
};

}  // namespace knnmi
