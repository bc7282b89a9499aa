#include "engines.hpp"

#include <limits>

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

// Which engine may serve, and which is fastest.
Engine engine_for(const Points& x, const Points& z, std::size_t y_width, std::size_t count, const Options& options) {
    if (x.columns() != 1 || y_width != 1) return Engine::tree;
    if (options.engine != Engine::automatic) return options.engine;
    return count >= enough_to_share(x.rows(), z.columns()) ? Engine::batch : Engine::single;
}

}  // namespace

std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                            std::size_t y_width, std::size_t count, const Options& options) {
    if (neighborhood.estimator == Estimator::cells) return make_cell_engine(x, z, neighborhood, options);
    switch (engine_for(x, z, y_width, count, options)) {
        case Engine::single:
            return make_single_engine(x, z, neighborhood, kernels(), options);
        case Engine::batch:
            return make_batch_engine(x, z, neighborhood, kernels(), options);
        default:
            return make_tree_engine(x, z, neighborhood, options);
    }
}

}  // namespace knnmi
