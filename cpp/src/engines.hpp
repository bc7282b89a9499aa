// The engines behind the estimators. All give the same integer counts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "fixed_point.hpp"
#include "kernels/kernels.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/options.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

// Gives one y after another. Called from several threads at once.
struct ColumnSource {
    // Writes y number `index` into `out`: rows * width values, one row after another.
    std::function<void(std::size_t index, std::span<double> out)> write;

    // Whether a column of y number `index` is a category.
    std::function<bool(std::size_t index, std::size_t column)> is_category = [](std::size_t, std::size_t) {
        return false;
    };

    // If set: y number `index` holds in row i what y number 0 holds in row out[i], and without z each of these once.
    std::function<void(std::size_t index, std::span<std::uint32_t> out)> rows = {};
};

// What is fixed while y varies: x, z and k. An implementation prepares what depends on these alone once.
class NeighborEngine {
public:
    virtual ~NeighborEngine() = default;

    // out[i] = sum over points of psi(n_xz + 1) + psi(n_yz + 1) - psi(n_z + 1), or what stands for it in the estimator,
    // for y number first + i. `width` is the number of columns of one y.
    virtual void sums(const ColumnSource& source, std::size_t width, std::size_t first, std::span<Sum> out) = 0;

    // The counts behind one of these sums.
    virtual NeighborCounts counts(const ColumnSource& source, std::size_t width, std::size_t index) = 0;
};

std::unique_ptr<NeighborEngine> make_cell_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                 const Options& options);
std::unique_ptr<NeighborEngine> make_tree_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                 const Options& options);
std::unique_ptr<NeighborEngine> make_plane_engine(const Points& x, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options);
// For one column in z, with most_places rows at most.
std::unique_ptr<NeighborEngine> make_space_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options);
// For one column in z that is a category.
std::unique_ptr<NeighborEngine> make_category_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                     const Kernels& kernels, const Options& options);
std::unique_ptr<NeighborEngine> make_single_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                   const Kernels& kernels, const Options& options);
std::unique_ptr<NeighborEngine> make_batch_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                  const Kernels& kernels, const Options& options);

// Of near points in (x, z) that the batch engine makes, with one column in z; each y is searched along its own
// values where a list would be longer.
std::size_t longest_list(std::size_t points, std::size_t k);

// The one that counts cells for the estimator by cells, else the one for options.engine; `automatic` chooses by the
// widths, by `count`, the number of y's that will be used, and what these are permutations of, if these
// do not depend on z.
std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                            std::size_t y_width, std::size_t count, const Options& options,
                                            const Points* permuted = nullptr);

}  // namespace knnmi
