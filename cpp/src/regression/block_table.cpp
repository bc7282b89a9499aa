#include "block_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
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

// From rows of `width` values, of which these are the sums, takes off the means.
void take_off_mean(Strip sum, std::vector<double>& values) {
    const std::size_t n = values.size() / width;
    for (double& m : sum) m /= static_cast<double>(n);
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t i = 0; i < width; ++i) values[row * width + i] -= sum[i];
    }
}

std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> made{0};
    return ++made;
}

// Products of pair blocks that are kept. They take a time of the order of 16 x 16 x n to make again.
constexpr std::size_t most_bytes = std::size_t{256} << 20;

}  // namespace

BlockTable::Priors::Priors(const BlockPriors& given) : deviations(given.deviations) {
    const auto used = [&](std::int32_t prior) {
        std::vector<std::size_t> features;
        for (std::size_t i = 0; i < width; ++i) {
            if (deviation(static_cast<std::size_t>(prior), i) > 0) features.push_back(i);
        }
        return features;
    };
    std::vector<std::int32_t> order(count());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        const auto x = used(a), y = used(b);
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    for (std::size_t first = 0; first < order.size(); first += batch) {
        Batch made;
        std::set<std::size_t> features;
        for (std::size_t place = first; place < std::min(first + batch, order.size()); ++place) {
            made.numbers.push_back(order[place]);
            for (const std::size_t i : used(order[place])) features.insert(i);
        }
        made.features.assign(features.begin(), features.end());
        for (const std::size_t i : made.features) {
            for (std::size_t place = 0; place < batch; ++place) {
                made.deviations.push_back(
                    place < made.numbers.size() ? deviation(static_cast<std::size_t>(made.numbers[place]), i) : 0.0);
            }
        }
        batches.push_back(std::move(made));
    }
}

BlockTable::BlockTable(BlockFeatures features_, const std::vector<BlockPriors>& main, const BlockPriors& pair,
                       std::array<std::int32_t, 4> pair_features_, const Options& options)
    : features(std::move(features_)),
      pair_features(pair_features_),
      kernels(block_kernels()),
      pair_priors(pair),
      state_(State{forks(), 0}),
      serial_(next_serial()) {
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
    for (const BlockPriors& priors : main) main_priors.emplace_back(priors);
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
    if (term[2] >= 0 && static_cast<std::size_t>(term[2]) < priors(term).count()) return;
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
    Strip mean{};
    for (std::size_t row = 0; row < rows(); ++row) {
        double* products = out.data() + row * width;
        std::array<double, 4> y;
        for (std::size_t j = 0; j < 4; ++j) y[j] = b[row * width + static_cast<std::size_t>(pair_features[j])];
        for (std::size_t i = 0; i < 4; ++i) {
            const double x = a[row * width + static_cast<std::size_t>(pair_features[i])];
            for (std::size_t j = 0; j < 4; ++j) products[4 * i + j] = x * y[j];
        }
        for (std::size_t i = 0; i < width; ++i) mean[i] += products[i];
    }
    take_off_mean(mean, out);
}

void BlockTable::side_by_side(const std::int32_t* chosen, std::size_t count, const double* factor,
                              std::vector<double>& out) const {
    out.resize(rows() * width);
    Strip mean{};
    for (std::size_t row = 0; row < rows(); ++row) {
        double* values = out.data() + row * width;
        for (std::size_t c = 0; c < columns_side_by_side; ++c) {
            for (std::size_t f = 0; f < 4; ++f) {
                values[4 * c + f] = c < count ? feature(row, {chosen[c], pair_features[f]}) : 0.0;
            }
        }
        if (factor == nullptr) continue;  // features are centred
        for (std::size_t i = 0; i < width; ++i) {
            values[i] *= factor[row];
            mean[i] += values[i];
        }
    }
    if (factor != nullptr) take_off_mean(mean, out);
}

const Tile& BlockTable::main_tile(std::size_t j, std::size_t k) const { return main_tiles[k * (k + 1) / 2 + j]; }

const double* BlockTable::values_of(const BlockTerm& a) const {
    if (a[1] < 0) return block(static_cast<std::size_t>(a[0]));
    // The tiles that a search needs next to each other mostly have one block in common.
    struct Made {
        std::uint64_t table = 0;
        BlockNumber number = 0;
        std::vector<double> values;
    };
    thread_local Made latest, before;
    const BlockNumber wanted = number(a[0], a[1]);
    if (latest.table != serial_ || latest.number != wanted) {
        std::swap(latest, before);
        if (latest.table != serial_ || latest.number != wanted) {
            pair_block(a[0], a[1], latest.values);
            latest.table = serial_;
            latest.number = wanted;
        }
    }
    return latest.values.data();
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
        Tile made;
        const double* x = values_of(low);
        const double* y = values_of(high);
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
    const Products found = products({target[0], -1, 0}, a);
    const double* row = found.values + static_cast<std::size_t>(target[1]) * found.rows;
    for (std::size_t i = 0; i < width; ++i) out[i] = row[i * found.columns];
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
            auto tiles = forked ? std::make_unique<KeptTiles>() : nullptr;
            if (!table.state_.compare_exchange_weak(state, {forks_, State::tidying})) continue;
            if (forked) {
                static_cast<void>(table.tiles.release());  // not destroyed: another thread may have been at it
                table.tiles = std::move(tiles);
            }
            if (table.tiles->bytes() > most_bytes) table.tiles->forget();
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
