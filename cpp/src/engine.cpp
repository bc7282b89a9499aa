#include <stdexcept>

#include "engines.hpp"

namespace knnmi {

std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& z, int k, std::size_t y_width,
                                            std::size_t /*columns*/, const Options& options) {
    const bool single_columns = x.columns() == 1 && y_width == 1;
    if (!single_columns && (options.engine == Engine::column || options.engine == Engine::columns)) {
        throw std::invalid_argument("this engine takes x and y of one column each: choose the tree engine");
    }
    return make_tree_engine(x, z, k, options);
}

}  // namespace knnmi
