// k-nearest-neighbour estimates of entropy and (conditional) mutual information, in nats, max norm.
//
// Thread safety: every function may be called from several threads at once; none keeps state between calls.
// Determinism: equal input gives equal bits for every engine, thread count and instruction set.
// Strictness: a point is counted when its distance is at most radius_i = rho_i * (1 - 1e-10), where rho_i is the
// distance to the k-th neighbour in the joint space, the point itself excluded by index. When rho_i is 0, coincident
// points are counted. Input must be finite, with 1 <= k < n; anything else throws std::invalid_argument.
#pragma once

#include <cstdint>
#include <vector>

#include "knnmi/options.hpp"
#include "knnmi/points.hpp"

namespace knnmi {

// What the neighbours of a point are counted for.
enum class Estimator {
    ksg,    // continuous columns: Kraskov et al. 2004; Frenzel and Pompe 2007
    mixed,  // columns with ties, or of whole numbers and categories: Mesner and Shalizi 2019. Points at exactly rho_i
            // count too, and k is replaced by the number of points within rho_i.
    cells,  // categories, or few values: the mean of psi(c_xyz) - psi(c_xz) - psi(c_yz) + psi(c_z), where c is the
            // number of rows that equal row i in a space, itself included (Grassberger 1988). It needs neither k nor
            // distances, and takes a time that grows with the number of rows, whatever the engine.
};

// Which neighbours of a point are counted: up to the k-th, and as the estimator has it.
struct Neighborhood {
    int k;
    Estimator estimator;

    Neighborhood(int neighbors, Estimator counted_for = Estimator::ksg) : k(neighbors), estimator(counted_for) {}
};

// Kozachenko-Leonenko entropy (Kraskov et al. 2004, Eq. 20): psi(n) - psi(k) + d/n * sum log(2 rho_i).
// Minus infinity when some rho_i is 0.
double entropy(const Points& x, int k, const Options& options = {});

// Kraskov et al. 2004, Eq. 8, when z has no columns; Vejmelka and Palus 2008 / Frenzel and Pompe 2007 otherwise.
double conditional_mutual_information(const Points& x, const Points& y, const Points& z,
                                      const Neighborhood& neighborhood, const Options& options = {});

// The same for every column of `candidates` as y: one value per column, work shared between them.
std::vector<double> conditional_mutual_informations(const Points& x, const Points& candidates, const Points& z,
                                                    const Neighborhood& neighborhood, const Options& options = {});

// The integers behind an estimate, for each point: neighbours within radius_i in (x, z), (y, z) and z, the point itself
// not counted; with empty z, `z` holds n - 1. For the mixed estimator radius_i is rho_i * (1 + 1e-10), for cells it
// is 0; for both `joint` has those within it in (x, y, z). For ksg it is empty.
struct NeighborCounts {
    std::vector<std::uint32_t> xz, yz, z, joint;
    bool operator==(const NeighborCounts&) const = default;
};
NeighborCounts neighbor_counts(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                               const Options& options = {});

// The conditional mutual information, to the bit, from the counts of Estimator::ksg.
double estimate_of(const NeighborCounts& counts, int k);

}  // namespace knnmi
