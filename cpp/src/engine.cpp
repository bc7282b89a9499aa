#include <stdexcept>

#include "engines.hpp"

namespace knnmi {

std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& z, int k, Estimator estimator,
                                            std::size_t y_width, std::size_t columns, const Options& options) {
    constexpr std::size_t enough_to_share = 8;  // y's from which on the shared lists pay, as measured
    const bool special = x.columns() == 1 && y_width == 1 && estimator == Estimator::ksg;
    Engine engine = options.engine;
    if (engine == Engine::automatic) {
        engine = !special ? Engine::tree : columns < enough_to_share ? Engine::column : Engine::columns;
    } else if (engine != Engine::tree && !special) {
        throw std::invalid_argument("this engine takes x and y of one column each, and no mixed data: choose the tree engine");
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
