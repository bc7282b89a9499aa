// The features of a table and the products between its blocks, which are made when they are first needed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "block_kernels.hpp"
#include "knnmi/block_regression.hpp"

namespace knnmi::regression {

using Tile = std::array<double, width * width>;
using Strip = std::array<double, width>;

// Main block j has the number j, the pair block of j < k the number columns + j * columns + k.
using BlockNumber = std::uint64_t;

// Tiles by the numbers of two blocks, kept until there are too many. A tile, once there, stays until `forget`.
class KeptTiles {
public:
    template <class Make>
    const Tile& get(BlockNumber a, BlockNumber b, const Make& make) {
        const std::uint64_t hash = (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu);
        Part& part = parts_[hash % parts_.size()];
        {
            const std::lock_guard<std::mutex> guard(part.lock);
            if (const Slot& slot = part.place_of(hash, a, b); slot.tile) return *slot.tile;
        }
        auto made = std::make_unique<Tile>(make());
        const std::lock_guard<std::mutex> guard(part.lock);
        Slot* slot = &part.place_of(hash, a, b);
        if (!slot->tile && ++part.count * 2 > part.slots.size()) {
            part.grow();
            slot = &part.place_of(hash, a, b);
        }
        if (!slot->tile) *slot = {hash, a, b, std::move(made)};
        return *slot->tile;
    }

    std::size_t bytes() const {
        std::size_t count = 0;
        for (const Part& part : parts_) count += part.count;
        return count * sizeof(Tile);
    }

    void forget() {
        for (Part& part : parts_) {
            for (Slot& slot : part.slots) slot.tile.reset();
            part.count = 0;
        }
    }

private:
    struct Slot {
        std::uint64_t hash = 0;
        BlockNumber a = 0, b = 0;
        std::unique_ptr<Tile> tile;
    };
    // Open addressing: a look-up waits for memory but once, before it waits for the tile.
    struct Part {
        std::mutex lock;
        std::size_t count = 0;
        std::vector<Slot> slots = std::vector<Slot>(16);  // a power of two, half of them free

        // Where the tile is, or the free slot for it.
        Slot& place_of(std::uint64_t hash, BlockNumber a, BlockNumber b) {
            std::size_t place = hash >> 32;
            for (;; ++place) {
                Slot& slot = slots[place & (slots.size() - 1)];
                if (!slot.tile || (slot.a == a && slot.b == b)) return slot;
            }
        }
        void grow() {
            std::vector<Slot> smaller(2 * slots.size());
            smaller.swap(slots);
            for (Slot& slot : smaller) {
                if (slot.tile) place_of(slot.hash, slot.a, slot.b) = std::move(slot);
            }
        }
    };
    std::array<Part, 61> parts_;
};

struct BlockTable {
    BlockFeatures features;
    std::array<std::int32_t, 4> pair_features{};
    const BlockKernels& kernels;

    // Standard deviations by [prior][feature], and batches of priors that use much the same features.
    struct Priors {
        struct Batch {
            std::vector<std::size_t> features;
            std::vector<double> deviations;  // by [place among the features][place in the batch], padded with zeros
            std::vector<std::int32_t> numbers;
        };
        std::vector<double> deviations;
        std::vector<Batch> batches;
        explicit Priors(const BlockPriors& given);
        std::size_t count() const { return deviations.size() / width; }
        double deviation(std::size_t prior, std::size_t feature) const { return deviations[prior * width + feature]; }
    };
    std::vector<Priors> main_priors;
    Priors pair_priors;

    std::vector<Tile> main_tiles;  // of main blocks j <= k
    mutable std::unique_ptr<KeptTiles> tiles = std::make_unique<KeptTiles>();

    BlockTable(BlockFeatures features_, const std::vector<BlockPriors>& main, const BlockPriors& pair,
               std::array<std::int32_t, 4> pair_features_, const Options& options);

    // Each throws std::invalid_argument for what this table does not have.
    void check_column(std::int32_t column) const;
    void check_columns(const std::vector<std::int32_t>& chosen) const;
    void check_target(BlockFeature target) const;
    void check_term(const BlockTerm& term) const;
    void check_fit(const FittedTarget& fit) const;

    std::size_t columns() const { return features.kinds.size(); }
    std::size_t rows() const { return features.n; }
    const double* block(std::size_t column) const { return features.values.data() + column * rows() * width; }
    double feature(std::size_t row, BlockFeature which) const {
        return block(static_cast<std::size_t>(which[0]))[row * width + static_cast<std::size_t>(which[1])];
    }

    BlockNumber number(std::int32_t first, std::int32_t second) const;
    const Priors& priors(const BlockTerm& term) const;

    // The 16 centred products of a pair of columns, shape (n, 16).
    void pair_block(std::int32_t first, std::int32_t second, std::vector<double>& out) const;

    // The pair features of four columns side by side, shape (n, 16), times a factor a row if there is one, and then
    // centred. Places beyond the columns are zero.
    static constexpr std::size_t columns_side_by_side = 4;
    void side_by_side(const std::int32_t* chosen, std::size_t count, const double* factor,
                      std::vector<double>& out) const;
    // n times the squared correlations of `left` with the products of the pair features of each column of `one` with
    // those of each column of `other`: calls found(index in one, index in other, largest, sum). Where both are the same
    // object, pairs may come only one way round.
    template <class Found>
    void score_pairs(const std::vector<double>& left, const std::vector<std::int32_t>& one,
                     const std::vector<std::int32_t>& other, const Found& found) const;

    // The products of the features of block a with those of block b: feature i of a and j of b at i * rows + j *
    // columns.
    struct Products {
        const double* values;
        std::size_t rows, columns;
    };
    Products products(const BlockTerm& a, const BlockTerm& b) const;
    // The products of a block with itself.
    const Tile& own_products(const BlockTerm& a) const;
    // The products of a block with a feature of a main block.
    void target_products(const BlockTerm& a, BlockFeature target, double* out) const;

    // A call that reads products, as long as it lives. The first of those at a time drops products that can be made
    // again, if they take too much memory, or were left behind by a fork.
    class Use {
    public:
        explicit Use(const BlockTable& table);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        const BlockTable* table_;
        int forks_;
    };

private:
    // How many calls there are, since which fork. No lock, which a fork would leave locked for ever.
    struct State {
        static constexpr std::uint32_t tidying = 0xffffffff;
        int forks;
        std::uint32_t calls;
    };
    mutable std::atomic<State> state_;

    const Tile& tile(const BlockTerm& a, const BlockTerm& b, bool& turned) const;
    const Tile& main_tile(std::size_t j, std::size_t k) const;  // j <= k
    // The values of a block; those of a pair block until this thread has made two others.
    const double* values_of(const BlockTerm& a) const;
    const std::uint64_t serial_;  // no other table in this process has it
};

template <class Found>
void BlockTable::score_pairs(const std::vector<double>& left, const std::vector<std::int32_t>& one,
                             const std::vector<std::int32_t>& other, const Found& found) const {
    constexpr std::size_t group = columns_side_by_side;
    double square = 0.0;
    for (const double r : left) square += r * r;
    if (!(square > 0)) return;
    const bool same = &one == &other;
    std::vector<double> times;
    std::vector<std::vector<double>> made(same ? (one.size() + group - 1) / group : 1);
    Tile sums;
    for (std::size_t a = 0; a < one.size(); a += group) {
        const std::size_t many = std::min(group, one.size() - a);
        side_by_side(one.data() + a, many, left.data(), times);
        for (std::size_t b = same ? a : 0; b < other.size(); b += group) {
            const std::size_t others = std::min(group, other.size() - b);
            std::vector<double>& beside = made[same ? b / group : 0];
            if (a == 0 || !same) side_by_side(other.data() + b, others, nullptr, beside);
            kernels.cross(times.data(), beside.data(), rows(), sums.data());
            for (std::size_t i = 0; i < many; ++i) {
                for (std::size_t j = 0; j < others; ++j) {
                    double largest = 0.0, sum = 0.0;
                    for (std::size_t f = 0; f < pair_features.size(); ++f) {
                        for (std::size_t g = 0; g < pair_features.size(); ++g) {
                            const double product = sums[(4 * i + f) * width + 4 * j + g];
                            const double score = product * product / square;
                            largest = std::max(largest, score);
                            sum += score;
                        }
                    }
                    found(a + i, b + j, largest, sum);
                }
            }
        }
    }
}

}  // namespace knnmi::regression
