// Permutations over all rows, and those that leave something as it is.
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
    // neighbours. With a label for each row, only rows of the same label are neighbours.
    LocalPermutations(const Points& z, int m, const Options& options, std::span<const std::uint32_t> labels = {});

    void draw(RandomWords random, std::span<std::uint32_t> source) const;

    // In random order each row swaps its place with one of its neighbours, if both have not yet swapped.
    void draw_swaps(RandomWords random, std::span<std::uint32_t> source) const;

    // For tests: m rows for each row.
    const std::vector<std::uint32_t>& neighbors() const { return neighbors_; }

private:
    std::size_t rows_, each_;
    std::vector<std::uint32_t> neighbors_;
};

// Rows with one label form a group. Rows are permuted within their groups; or whole groups are, their rows in order:
// the groups in their own order are laid over the groups in the order drawn, row by row. Groups of one size are
// exchanged as they are.
class GroupPermutations {
public:
    explicit GroupPermutations(std::span<const std::uint32_t> labels);

    void draw_within(RandomWords random, std::span<std::uint32_t> source) const;
    void draw_whole(RandomWords random, std::span<std::uint32_t> source) const;

private:
    std::vector<std::uint32_t> rows_;  // group by group
    std::vector<std::size_t> begin_;   // where each group begins among them, and where the last one ends
};

// The rows form a circle, cut into stretches of about `length` rows from a random row on; these are put together in
// random order, from a random row on. There are two stretches at least. With a season above 1 all this is done with
// whole seasons instead of rows, and the rows after the last one stay.
void permute_blocks(std::size_t length, std::size_t season, RandomWords random, std::span<std::uint32_t> source);

// Permutations among stretches of `length` rows (the first n mod length rows stay) whose courses of z are neighbours.
class LocalBlockPermutations {
public:
    LocalBlockPermutations(const Points& z, int m, std::size_t length, const Options& options);

    void draw(RandomWords random, std::span<std::uint32_t> source) const;

private:
    std::size_t length_, rest_, count_;
    LocalPermutations blocks_;
};

// The permutations of a test: over all rows, unless it says otherwise; local ones where z has columns.
class PermutedRows {
public:
    PermutedRows(const Points& z, const Permutations& permutations, const Options& options);

    // Permutation number `index`: row i is given the y of row source[i].
    void draw(std::uint32_t index, std::span<std::uint32_t> source) const;

private:
    Permutations permutations_;
    std::optional<LocalPermutations> local_;
    std::optional<LocalBlockPermutations> local_blocks_;
    std::optional<GroupPermutations> groups_;
};

}  // namespace knnmi
