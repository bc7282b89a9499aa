#include "knnmi/permutation_test.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "checks.hpp"
#include "engines.hpp"
#include "permutation.hpp"

namespace knnmi {
namespace {

constexpr int round_size = 32;  // permutations between two looks at the decision: never a matter of threads

bool is_decided(int at_least, int made, int all, double alpha) {
    const auto p = [all](int count) { return (count + 1.0) / (all + 1.0); };
    return p(at_least) >= alpha || p(at_least + all - made) < alpha;
}

}  // namespace

PermutationResult permutation_test(const Points& x, const Points& y, const Points& z, const Neighborhood& neighborhood,
                                   const PermutationTest& test, const Options& options) {
    check_sample(x, y, z, neighborhood.k);
    if (test.permutations < 1) throw std::invalid_argument("permutations must be at least 1");
    if (test.neighbors < 0) throw std::invalid_argument("neighbors must be 0 (permute over all rows) or more");
    if (!(test.stop_at_alpha >= 0.0 && test.stop_at_alpha < 1.0)) {
        throw std::invalid_argument("stop_at_alpha must be 0 (make all permutations) or a level below 1");
    }

    const std::size_t n = x.rows(), width = y.columns();
    std::optional<LocalPermutations> local;
    if (test.neighbors > 0 && !z.empty()) local.emplace(z, test.neighbors, options);
    // y number 0 is the observed one, and number 1 + t the one of permutation t.
    const ColumnSource source = [&](std::size_t index, std::span<double> out) {
        std::vector<std::uint32_t> row;
        if (index > 0) {
            const auto number = static_cast<std::uint32_t>(index - 1);
            row = local ? local->draw(RandomWords(test.seed, test.stream, number))
                        : permutation(n, test.seed, test.stream, number);
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < width; ++j) out[i * width + j] = y(index > 0 ? row[i] : i, j);
        }
    };

    const bool may_stop = test.stop_at_alpha > 0.0;
    const int round = may_stop ? std::min(round_size, test.permutations) : test.permutations;
    std::vector<Sum> sums(1 + static_cast<std::size_t>(round));
    const auto engine = make_engine(x, z, neighborhood, width, sums.size(), options);
    engine->sums(source, width, 0, sums);
    const Sum observed = sums.front();
    // The smaller the sum, the larger the estimate.
    const auto reaches = [observed](Sum sum) { return sum <= observed; };
    int made = round;
    int at_least = static_cast<int>(std::count_if(sums.begin() + 1, sums.end(), reaches));
    while (made < test.permutations && !is_decided(at_least, made, test.permutations, test.stop_at_alpha)) {
        sums.resize(static_cast<std::size_t>(std::min(round, test.permutations - made)));
        engine->sums(source, width, 1 + static_cast<std::size_t>(made), sums);
        made += static_cast<int>(sums.size());
        at_least += static_cast<int>(std::count_if(sums.begin(), sums.end(), reaches));
    }
    return {estimate_from(observed, neighborhood.k, n), at_least, made};
}

}  // namespace knnmi
