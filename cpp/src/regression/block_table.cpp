#include "block_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "parallel.hpp"

namespace knnmi::regression {

namespace {

void check_priors(const BlockPriors& priors) {
    if (priors.count() == 0) throw std::invalid_argument("give at least one prior a block");
    for (const double deviation : priors.deviations) {
        if (!std::isfinite(deviation) || deviation < 0)
            throw std::invalid_argument("the deviations of priors must be finite, and 0 or more");
    }
}

// Products of pair blocks that are kept. They take a time of the order of 16 x 16 x n to make again.
constexpr std::size_t most_bytes = std::size_t{256} << 20;

template <class Priors>
Priors batched(const BlockPriors& given) {
    Priors priors;
    priors.count = given.count();
    const std::size_t batches = (priors.count + batch - 1) / batch;
    priors.deviations.assign(batches * batch * width, 0.0);
    for (std::size_t prior = 0; prior < priors.count; ++prior) {
        for (std::size_t i = 0; i < width; ++i) {
            priors.deviations[(prior / batch * width + i) * batch + prior % batch] =
                given.deviations[prior * width + i];
        }
    }
    return priors;
}

}  // namespace

BlockTable::BlockTable(BlockFeatures features_, const std::vector<BlockPriors>& main, const BlockPriors& pair,
                       std::array<std::int32_t, 4> pair_features_, const Options& options)
    : features(std::move(features_)),
      pair_features(pair_features_),
      kernels(block_kernels()),
      state_(State{forks(), 0}) {
    if (columns() < 1) throw std::invalid_argument("a regression needs at least one column");
    if (rows() < 2) throw std::invalid_argument("a regression needs at least 2 rows");
    if (features.values.size() != columns() * rows() * width) {
        throw std::invalid_argument("features must have the shape (columns, rows, 16)");
    }
    for (const double value : features.values)
        if (!std::isfinite(value)) throw std::invalid_argument("features must be finite");
    for (const BlockPriors& priors : main) check_priors(priors);
    check_priors(pair);
    for (const std::int32_t feature : pair_features) check_target({0, feature});
    for (const std::uint8_t kind : features.kinds) {
        if (kind >= main.size())
            throw std::invalid_argument("no table of priors has the number " + std::to_string(kind));
    }
    for (const BlockPriors& priors : main) main_priors.push_back(batched<Priors>(priors));
    pair_priors = batched<Priors>(pair);
    const std::size_t p = columns();
    main_tiles.resize(p * (p + 1) / 2);
    parallel_for(p, options, [&](std::size_t k, int) {
        for (std::size_t j = 0; j <= k; ++j) {
            kernels.cross(block(j), block(k), rows(), main_tiles[k * (k + 1) / 2 + j].data());
        }
    });
}

void BlockTable::check_column(std::int32_t column) const {
    if (column >= 0 && static_cast<std::size_t>(column) < columns()) return;
    throw std::invalid_argument("there is no column " + std::to_string(column) + ", but 0 to " +
                                std::to_string(columns() - 1));
}

void BlockTable::check_columns(const std::vector<std::int32_t>& chosen) const {
    for (const std::int32_t column : chosen) check_column(column);
}

void BlockTable::check_target(BlockFeature target) const {
    check_column(target[0]);
    if (target[1] >= 0 && static_cast<std::size_t>(target[1]) < width) return;
    throw std::invalid_argument("there is no feature " + std::to_string(target[1]) + ", but 0 to 15");
}

void BlockTable::check_term(const BlockTerm& term) const {
    check_column(term[0]);
    if (term[1] != -1) check_column(term[1]);
    if (term[1] != -1 && term[1] <= term[0])
        throw std::invalid_argument("the columns of a pair block must differ, and the lower one be first");
    if (term[2] >= 0 && static_cast<std::size_t>(term[2]) < priors(term).count) return;
    throw std::invalid_argument("there is no prior " + std::to_string(term[2]) + " for this block");
}

void BlockTable::check_fit(const FittedTarget& fit) const {
    check_target(fit.target);
    for (const BlockTerm& term : fit.terms) check_term(term);
}

BlockNumber BlockTable::number(std::int32_t first, std::int32_t second) const {
    const auto j = static_cast<BlockNumber>(first);
    return second < 0 ? j : columns() + j * columns() + static_cast<BlockNumber>(second);
}

const BlockTable::Priors& BlockTable::priors(const BlockTerm& term) const {
    return term[1] < 0 ? main_priors[features.kinds[static_cast<std::size_t>(term[0])]] : pair_priors;
}

void BlockTable::pair_block(std::int32_t first, std::int32_t second, std::vector<double>& out) const {
    out.resize(rows() * width);
    const double* a = block(static_cast<std::size_t>(first));
    const double* b = block(static_cast<std::size_t>(second));
    std::array<double, width> mean{};
    for (std::size_t row = 0; row < rows(); ++row) {
        double* products = out.data() + row * width;
        for (std::size_t i = 0; i < 4; ++i) {
            const double x = a[row * width + static_cast<std::size_t>(pair_features[i])];
            for (std::size_t j = 0; j < 4; ++j) {
                const double product = x * b[row * width + static_cast<std::size_t>(pair_features[j])];
                products[4 * i + j] = product;
                mean[4 * i + j] += product;
            }
        }
    }
    for (double& m : mean) m /= static_cast<double>(rows());
    for (std::size_t row = 0; row < rows(); ++row) {
        for (std::size_t i = 0; i < width; ++i) out[row * width + i] -= mean[i];
    }
}

void BlockTable::side_by_side(const std::int32_t* chosen, std::size_t count, const double* factor,
                              std::vector<double>& out) const {
    out.assign(rows() * width, 0.0);
    std::array<double, width> mean{};
    for (std::size_t c = 0; c < count; ++c) {
        const double* values = block(static_cast<std::size_t>(chosen[c]));
        for (std::size_t row = 0; row < rows(); ++row) {
            for (std::size_t f = 0; f < 4; ++f) {
                double value = values[row * width + static_cast<std::size_t>(pair_features[f])];
                if (factor != nullptr) value *= factor[row];
                out[row * width + 4 * c + f] = value;
                mean[4 * c + f] += value;
            }
        }
    }
    if (factor == nullptr) return;  // features are centred
    for (double& m : mean) m /= static_cast<double>(rows());
    for (std::size_t row = 0; row < rows(); ++row) {
        for (std::size_t i = 0; i < width; ++i) out[row * width + i] -= mean[i];
    }
}

const Tile& BlockTable::main_tile(std::size_t j, std::size_t k) const { return main_tiles[k * (k + 1) / 2 + j]; }

const double* BlockTable::values_of(const BlockTerm& a, std::vector<double>& scratch) const {
    if (a[1] < 0) return block(static_cast<std::size_t>(a[0]));
    pair_block(a[0], a[1], scratch);
    return scratch.data();
}

const Tile& BlockTable::tile(const BlockTerm& a, const BlockTerm& b, bool& turned) const {
    const BlockNumber first = number(a[0], a[1]), second = number(b[0], b[1]);
    turned = first > second;
    if (a[1] < 0 && b[1] < 0) {
        return main_tile(std::min(first, second), std::max(first, second));
    }
    const BlockTerm& low = turned ? b : a;
    const BlockTerm& high = turned ? a : b;
    return tiles->get(std::min(first, second), std::max(first, second), [&] {
        thread_local std::vector<double> scratch_low, scratch_high;
        Tile made;
        const double* x = values_of(low, scratch_low);
        const double* y = first == second ? x : values_of(high, scratch_high);
        kernels.cross(x, y, rows(), made.data());
        return made;
    });
}

BlockTable::Products BlockTable::products(const BlockTerm& a, const BlockTerm& b) const {
    bool turned = false;
    const Tile& found = tile(a, b, turned);
    return turned ? Products{found.data(), 1, width} : Products{found.data(), width, 1};
}

const Tile& BlockTable::own_products(const BlockTerm& a) const {
    bool turned = false;
    return tile(a, a, turned);
}

void BlockTable::target_products(const BlockTerm& a, BlockFeature target, double* out) const {
    if (a[1] < 0) {
        const Products found = products({target[0], -1, 0}, a);
        const double* row = found.values + static_cast<std::size_t>(target[1]) * found.rows;
        for (std::size_t i = 0; i < width; ++i) out[i] = row[i * found.columns];
        return;
    }
    const auto feature_number = static_cast<std::uint64_t>(target[0]) * width + static_cast<std::uint64_t>(target[1]);
    const Strip& strip = strips->get(number(a[0], a[1]), feature_number, [&] {
        thread_local std::vector<double> products, y;
        pair_block(a[0], a[1], products);
        y.resize(rows());
        for (std::size_t row = 0; row < rows(); ++row) y[row] = feature(row, target);
        Strip made;
        kernels.project(products.data(), y.data(), rows(), made.data());
        return made;
    });
    std::copy(strip.begin(), strip.end(), out);
}

BlockTable::Use::Use(const BlockTable& table) : table_(&table), forks_(forks()) {
    State state = table.state_;
    for (;;) {
        // What the state says of calls from before a fork is void: a child does not have their threads.
        const bool forked = state.forks != forks_;
        if (!forked && state.calls == State::tidying) {
            std::this_thread::yield();
            state = table.state_;
        } else if (!forked && state.calls > 0) {
            if (table.state_.compare_exchange_weak(state, {forks_, state.calls + 1})) return;
        } else {
            auto tiles = forked ? std::make_unique<Kept<Tile>>() : nullptr;
            auto strips = forked ? std::make_unique<Kept<Strip>>() : nullptr;
            if (!table.state_.compare_exchange_weak(state, {forks_, State::tidying})) continue;
            if (forked) {
                static_cast<void>(table.tiles.release());  // not destroyed: another thread may have been at it
                static_cast<void>(table.strips.release());
                table.tiles = std::move(tiles);
                table.strips = std::move(strips);
            }
            if (table.tiles->bytes() > most_bytes) table.tiles->forget();
            if (table.strips->bytes() > most_bytes / 8) table.strips->forget();
            table.state_.store({forks_, 1});
            return;
        }
    }
}

BlockTable::Use::~Use() {
    State state = table_->state_;
    while (state.forks == forks_ && !table_->state_.compare_exchange_weak(state, {forks_, state.calls - 1})) {
    }
}

}  // namespace knnmi::regression
