#include <limits>
#include <stdexcept>

#include "engines.hpp"

namespace knnmi {

namespace {

// The number of y's from which on shared lists pay, as measured with k = 3 on Gaussian data of 500 to 100,000 rows.
// The more columns z has, the more there is to share; with one or none, lists grow long in large samples.
std::size_t enough_to_share(std::size_t rows, std::size_t z_columns) {
    constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    if (z_columns <= 1 && rows >= 50'000) return never;
    switch (z_columns) {
        case 0:
            return 16;
        case 1:
            return 6;
        case 2:
            return 5;
        case 3:
            return 4;
        case 4:
            return 3;
        default:
            return 2;
    }
}

}  // namespace

std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& z, int k, Estimator estimator,
                                            std::size_t y_width, std::size_t columns, const Options& options) {
    const bool special = x.columns() == 1 && y_width == 1 && estimator == Estimator::ksg;
    if (options.engine != Engine::automatic && options.engine != Engine::tree && !special) {
        throw std::invalid_argument(
            "this engine takes x and y of one column each, and no mixed data: choose the tree engine");
    }
    Engine engine = options.engine;
    if (engine == Engine::automatic) {
        const bool share = columns >= enough_to_share(x.rows(), z.columns());
        engine = !special ? Engine::tree : share ? Engine::columns : Engine::column;
    }
    switch (engine) {
        case Engine::column:
            return make_column_engine(x, z, k, options);
        case Engine::columns:
            return make_columns_engine(x, z, k, options);
        default:
            return make_tree_engine(x, z, k, estimator, options);
    }
}

}  // namespace knnmi
