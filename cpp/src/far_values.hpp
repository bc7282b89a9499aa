// Beside permutations of one y: the k-th neighbours of the points that have a value far out in y.
//
// Few values are near such a one, and they are the same ones in each permutation, whichever points have them. So eight
// permutations at a time are searched along y, from the value on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "along_y.hpp"
#include "ascending_column.hpp"
#include "batched_columns.hpp"
#include "fixed_side.hpp"

namespace knnmi {

class FarValues {
public:
    // Of a full batch or more, which all hold the values given. Nothing where none of these is far out. `along_y` is
    // null with two columns or more in z.
    static std::optional<FarValues> of(const FixedSide& fixed, const AlongY* along_y, const BatchedColumns& y,
                                       std::span<const double> values, const Options& options);

    // The columns of a batch, as bits, beside which the k-th neighbour of the point at a position is known.
    unsigned known(std::size_t position, std::size_t batch) const { return known_[batch * points_ + position]; }

    // How far it is away beside these: eight numbers, of which the others are of no account.
    const double* kth_distances(std::size_t position, std::size_t batch) const {
        return rho_.get() + (batch * points_ + position) * batch_size;
    }

    // How many others are near beside one of these. Counted for mixed estimators, and with two columns or more in z.
    CountsAlongY within(std::size_t position, std::size_t batch, std::size_t lane) const {
        return counts_[(batch * points_ + position) * batch_size + lane];
    }

private:
    class End;
    enum Side : bool { below, above };

    FarValues(const FixedSide& fixed, const BatchedColumns& y, std::span<const double> values);

    // Searches for a value, and notes what is found. Returns the columns beside which it was enough, as bits.
    unsigned search(End& end, std::size_t number);
    void search(std::size_t batch);

    // The same at one end of the first batch, as long as it pays. Returns for how many values it did.
    std::size_t search_first(Side side, const AlongY* along_y);

    const FixedSide* fixed_;
    const BatchedColumns* y_;
    std::size_t points_;
    std::size_t most_;                           // values looked at in a search
    std::array<std::vector<double>, 2> values_;  // ascending from either end on, with margins
    std::vector<const double*> columns_;         // those of z, and x, by position
    std::vector<double> caps_;                   // of these; empty: no categories
    std::array<std::size_t, 2> searched_{};      // how many values at either end
    std::vector<std::uint8_t> known_;            // for each batch and position, as are the next
    std::unique_ptr<double[]> rho_;              // eight each; set where they are known
    std::unique_ptr<CountsAlongY[]> counts_;     // likewise
};

}  // namespace knnmi
