#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "stopping.hpp"

using namespace knnmi;
using namespace knnmi::test;

namespace {

// A test of which the outcomes are given: whether each permuted estimate reaches the observed one.
struct Outcome {
    int at_least, made;
    double best_wealth;
};

template <class Reaches>
Outcome run(const StoppingRule& rule, double alpha, const Reaches& reaches) {
    Outcome outcome{0, 0, 0.0};
    for (std::size_t look = 0; look < rule.looks().size(); ++look) {
        for (; outcome.made < rule.looks()[look]; ++outcome.made)
            outcome.at_least += reaches(outcome.at_least, outcome.made) ? 1 : 0;
        outcome.best_wealth = std::max(outcome.best_wealth, wealth(outcome.at_least, outcome.made, alpha));
        if (rule.ends(outcome.at_least, look)) break;
    }
    return outcome;
}

}  // namespace

// The closed form: the integral over (0, b) of p^K (1 - p)^(t - K) / b, over the probability K! (t - K)! / (t + 1)! of
// exchangeable estimates. Here by Simpson's rule.
TEST(wealth_is_the_ratio_of_the_bets) {
    for (const int made : {15, 63, 200})
        for (const int at_least : {0, 1, 3, 9}) {
            constexpr double bet = 0.03;
            constexpr int steps = 2000;
            double integral = 0.0;
            for (int i = 0; i <= steps; ++i) {
                const double p = bet * i / steps, weight = i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
                integral += weight * std::pow(p, at_least) * std::pow(1.0 - p, made - at_least);
            }
            integral /= 3.0 * steps;
            const double under_null =
                std::exp(std::lgamma(at_least + 1.0) + std::lgamma(made - at_least + 1.0) - std::lgamma(made + 2.0));
            const double expected = integral / under_null;
            CHECK(std::abs(wealth(at_least, made, 0.05) - expected) < 1e-6 * std::max(1.0, expected));
        }
}

// By exact recursion the level is at most alpha, and by drawing exchangeable estimates it is what the recursion says.
TEST(the_level_is_at_most_alpha) {
    for (const int permutations : {19, 99, 199, 200, 500, 1000})
        for (const double alpha : {0.01, 0.05, 0.1})
            CHECK(StoppingRule({StopWhen::sequential, alpha}, permutations).level() <= alpha);

    const StoppingRule rule({StopWhen::sequential, 0.05}, 200);
    CHECK(rule.level() >= 10.0 / 201.0);  // at least the level of the test that makes all
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> uniform;
    constexpr int draws = 40'000;
    int rejected = 0, anytime = 0;
    double made = 0.0;
    for (int i = 0; i < draws; ++i) {
        const Outcome outcome = run(rule, 0.05, [&](int at_least, int so_far) {
            return uniform(generator) < (at_least + 1.0) / (so_far + 2.0);
        });
        rejected += (outcome.at_least + 1.0) / (outcome.made + 1.0) < 0.05 ? 1 : 0;
        anytime += outcome.best_wealth >= 20.0 ? 1 : 0;
        made += outcome.made;
    }
    const double error = std::sqrt(0.05 * 0.95 / draws);
    CHECK(std::abs(static_cast<double>(rejected) / draws - rule.level()) < 4 * error);
    CHECK(static_cast<double>(anytime) / draws < 0.05 + 4 * error);
    CHECK(made / draws < 100);  // of 200
}

// Clear dependence ends early, and the p-value of those made is on the right side of alpha.
TEST(clear_cases_end_early) {
    const StoppingRule rule({StopWhen::sequential, 0.05}, 200);
    const Outcome dependent = run(rule, 0.05, [](int, int) { return false; });
    CHECK(dependent.made < 100);
    CHECK((dependent.at_least + 1.0) / (dependent.made + 1.0) < 0.05);
    const Outcome independent = run(rule, 0.05, [](int, int) { return true; });
    CHECK(independent.made < 100);
}

TEST(the_certain_rule_changes_no_decision) {
    std::mt19937_64 generator(2);
    for (int i = 0; i < 2000; ++i) {
        std::vector<bool> reaches(200);
        const std::uint64_t share = generator() % 30;
        for (std::size_t t = 0; t < reaches.size(); ++t) reaches[t] = generator() % 200 < share;
        const StoppingRule rule({StopWhen::certain, 0.05}, 200);
        const auto reaches_at = [&](int, int made) { return reaches[static_cast<std::size_t>(made)]; };
        const Outcome outcome = run(rule, 0.05, reaches_at);
        const Outcome all = run(StoppingRule({}, 200), 0.05, reaches_at);
        CHECK(all.made == 200);
        CHECK(((outcome.at_least + 1.0) / (outcome.made + 1.0) < 0.05) == ((all.at_least + 1.0) / 201.0 < 0.05));
    }
}

// By exact recursion over exchangeable estimates: p is a p-value at every level.
TEST(p_of_enough_that_reached_is_valid_at_every_level) {
    for (const int permutations : {50, 99, 999, 2000}) {
        const StoppingRule rule({StopWhen::reached, 0.05}, permutations);
        std::vector<double> going_on(static_cast<std::size_t>(permutations) + 1), p_values, probabilities;
        going_on[0] = 1.0;
        int made = 0;
        for (std::size_t look = 0; look < rule.looks().size(); ++look) {
            for (; made < rule.looks()[look]; ++made)
                for (auto count = static_cast<std::size_t>(made) + 1; count-- > 0;) {
                    const double reach = (static_cast<double>(count) + 1.0) / (made + 2.0);
                    going_on[count + 1] += going_on[count] * reach;
                    going_on[count] *= 1.0 - reach;
                }
            const bool is_last = look + 1 == rule.looks().size();
            for (int count = 0; count <= made; ++count) {
                if (!is_last && !rule.ends(count, look)) continue;
                p_values.push_back((count + 1.0) / (made + 1.0));
                probabilities.push_back(std::exchange(going_on[static_cast<std::size_t>(count)], 0.0));
            }
        }
        for (const double level : p_values) {
            double probability = 0.0;
            for (std::size_t i = 0; i < p_values.size(); ++i)
                if (p_values[i] <= level) probability += probabilities[i];
            CHECK(probability <= level + 1e-12);
        }
    }
}

TEST(a_test_goes_on_until_enough_reached) {
    const StoppingRule rule({StopWhen::reached, 0.05}, 100'000);
    const Outcome small = run(rule, 0.05, [](int, int made) { return made % 1000 == 999; });
    CHECK(small.at_least >= Stopping::enough);
    CHECK(small.made < 50'000);  // 25,000 and a look
    CHECK(run(rule, 0.05, [](int, int) { return false; }).made == 100'000);
    CHECK(run(rule, 0.05, [](int, int) { return true; }).made < 100);
}

int main() { return run_tests(); }
