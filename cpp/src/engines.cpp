#include "engines.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fewer_columns.hpp"
#include "kernels/kernels.hpp"

namespace knnmi {

namespace {

std::vector<Points> columns_of(const Points& points) {
    std::vector<Points> columns;
    for (std::size_t c = 0; c < points.columns(); ++c) columns.push_back(points.column(c));
    return columns;
}

std::vector<std::size_t> sample_of(std::size_t rows) {
    std::vector<std::size_t> sample(std::min<std::size_t>(rows, 512));
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = i * rows / sample.size();
    return sample;
}

// The share of pairs of rows that are at most 1 apart, by a sample of rows.
double within_1(const Points& column) {
    if (column.is_category(0)) return 1.0;
    std::vector<double> values;
    for (const std::size_t row : sample_of(column.rows())) values.push_back(column(row, 0));
    std::sort(values.begin(), values.end());
    std::size_t pairs = 0;
    for (std::size_t i = 0, first = 0; i < values.size(); ++i) {
        while (values[i] - values[first] > 1.0) ++first;
        pairs += i - first;
    }
    const auto many = static_cast<double>(values.size());
    return static_cast<double>(pairs) / (many * (many - 1) / 2);
}

// How many rows are equal in some columns, by a sample of rows.
struct Ties {
    double equal;                   // about how many others are equal to a row
    std::size_t sample, different;  // rows in it
};

Ties ties_in(const std::vector<Points>& columns) {
    const auto compare = [&](std::size_t a, std::size_t b) {
        for (const Points& column : columns)
            if (column(a, 0) != column(b, 0)) return column(a, 0) < column(b, 0);
        return false;
    };
    const std::size_t n = columns.front().rows();
    std::vector<std::size_t> sample = sample_of(n);
    const std::size_t many = sample.size();
    std::sort(sample.begin(), sample.end(), compare);
    Ties ties{.equal = 0.0, .sample = many, .different = 0};
    for (auto first = sample.begin(), last = first; first != sample.end(); first = last) {
        last = std::upper_bound(first, sample.end(), *first, compare);
        ties.equal += static_cast<double>((last - first) * (last - first - 1));
        ++ties.different;
    }
    ties.equal *= static_cast<double>(n) / static_cast<double>(many * (many - 1));
    return ties;
}

// The number of y's from which on shared lists pay, as measured with k = 3 on Gaussian data of 500 to 100,000 rows.
// The more columns z has, the more there is to share; with one, lists grow long in large samples. Where so many
// rows are equal that lists would grow too long, that engine goes along y or counts them as sets, and the other looks
// at all of them.
std::size_t enough_to_share(const Points& x, const Points& z, std::size_t k) {
    const std::size_t longest = longest_list(x.rows(), k);
    std::vector<Points> listed = columns_of(z);  // what lists of near points go by
    if (z.columns() == 1) listed.push_back(x);
    if (x.rows() > longest && ties_in(listed).equal > static_cast<double>(longest)) return 1;
    switch (z.columns()) {
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

// Whether several categories in z are best seen as one. Sets of very many equal rows are counted whole where z has two
// columns or more.
bool merges_categories(const Points& z) {
    std::size_t categories = 0;
    for (std::size_t c = 0; c < z.columns(); ++c) categories += z.is_category(c);
    return categories > 1 && ties_in(columns_of(z)).equal < 1'000;
}

// Whether z is a category of few rows each, as measured with k = 1 to 10. The lists of large ones pay for many y's
// only. Where x and y are so wide that few rows are within 1 in both, the plane beyond a category is a search of its
// own; y's that are not known are taken to be as wide as x.
bool has_small_categories(const Points& x, const Points& z, std::size_t k, std::size_t count, const Points* permuted) {
    if (!z.is_category(0) || x.rows() < 200 || ties_in({z}).equal > (count >= 8 ? 300 : 100)) return false;
    const double near = within_1(x) * within_1(permuted != nullptr ? *permuted : x);
    return near * static_cast<double>(x.rows()) >= static_cast<double>(3 * k);
}

// Whether permutations beside one column in z are searched in a space, as measured with k = 3 and 5: where x and z have
// few different pairs of values, and most points have k others equal to them, which alone tell a mixed estimator all.
// Else lists are faster.
bool fits_space(const Points& x, const Points& z, const Neighborhood& neighborhood, std::size_t count,
                const Points* permuted) {
    const std::size_t rows = x.rows();
    if (neighborhood.estimator != Estimator::mixed || rows < 1'000 || rows > most_places) return false;
    if (count < 16 || permuted == nullptr) return false;
    const Ties fixed = ties_in({x, z});
    const double equal_in_y = ties_in({*permuted}).equal / static_cast<double>(rows);
    return 3 * fixed.different < fixed.sample && fixed.equal * equal_in_y >= neighborhood.k;
}

}  // namespace

std::size_t longest_list(std::size_t points, std::size_t k) {
    // Of two independent columns, one has fewer than sqrt(k n) points within the k-th distance.
    return 512 + static_cast<std::size_t>(16 * std::sqrt(static_cast<double>(k * points)));
}

std::unique_ptr<NeighborEngine> make_engine(const Points& x, const Points& given_z, const Neighborhood& neighborhood,
                                            std::size_t y_width, std::size_t count, const Options& options,
                                            const Points* permuted) {
    const FewerColumns fewer(given_z, merges_categories(given_z));
    const Points z = fewer.points();
    if (neighborhood.estimator == Estimator::cells) return make_cell_engine(x, z, neighborhood, options);
    if (x.columns() != 1 || y_width != 1 || options.engine == Engine::tree)
        return make_tree_engine(x, z, neighborhood, options);
    if (z.empty()) return make_plane_engine(x, neighborhood, kernels(), options);
    const auto k = static_cast<std::size_t>(neighborhood.k);
    if (options.engine == Engine::automatic && z.columns() == 1 && has_small_categories(x, z, k, count, permuted))
        return make_category_engine(x, z, neighborhood, kernels(), options);
    if (options.engine == Engine::automatic && z.columns() == 1 && fits_space(x, z, neighborhood, count, permuted))
        return make_space_engine(x, z, neighborhood, kernels(), options);
    const bool shares =
        options.engine == Engine::automatic ? count >= enough_to_share(x, z, k) : options.engine == Engine::batch;
    return shares ? make_batch_engine(x, z, neighborhood, kernels(), options)
                  : make_single_engine(x, z, neighborhood, kernels(), options);
}

}  // namespace knnmi
