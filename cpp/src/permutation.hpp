// Permutations over all rows, and among rows that are neighbours in z.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "knnmi/options.hpp"
#include "knnmi/permutation_test.hpp"
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

    void draw(RandomWords random, std::span<std::uint32_t> source) const;

    // For tests: m rows for each row.
    const std::vector<std::uint32_t>& neighbors() const { return neighbors_; }

private:
    std::size_t rows_, each_;
    std::vector<std::uint32_t> neighbors_;
};

// The permutations of a test: over all rows, or local where it says so and z has columns.
class PermutedRows {
public:
    PermutedRows(const Points& z, const Permutations& permutations, const Options& options);

    // Permutation number `index`: row i is given the y of row source[i].
    void draw(std::uint32_t index, std::span<std::uint32_t> source) const;

private:
    Permutations permutations_;
    std::optional<LocalPermutations> local_;
};

}  // namespace knnmi
