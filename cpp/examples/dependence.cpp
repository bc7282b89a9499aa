// x and y depend on each other, and no longer when z is given.
#include <cstdio>
#include <random>
#include <vector>

#include "knnmi/estimators.hpp"
#include "knnmi/permutation_test.hpp"

int main() {
    constexpr std::size_t rows = 500, columns = 3;
    std::mt19937_64 generator(1);
    std::normal_distribution<double> noise;
    std::vector<double> data;  // one row after another: x, y, z
    for (std::size_t i = 0; i < rows; ++i) {
        const double z = noise(generator);
        data.insert(data.end(), {z + noise(generator), z + noise(generator), z});
    }
    const knnmi::Points points = knnmi::Points::row_major(data.data(), rows, columns);
    const knnmi::Points x = points.column(0), y = points.column(1), z = points.column(2);
    const knnmi::Points nothing = knnmi::Points::none(rows);

    constexpr int k = 3;
    std::printf("I(x; y)     = %6.3f nats\n", knnmi::conditional_mutual_information(x, y, nothing, k));
    std::printf("I(x; y | z) = %6.3f nats\n", knnmi::conditional_mutual_information(x, y, z, k));
    for (const knnmi::Points& given : {nothing, z}) {
        const knnmi::PermutationResult result = knnmi::permutation_test(x, y, given, k, {});
        std::printf("p = %.3f %s\n", result.p_value(),
                    given.empty() ? "that x and y are independent" : "that they are so given z");
    }
}
