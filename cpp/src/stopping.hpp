// When a permutation test may end before all permutations are made.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "knnmi/permutation_test.hpp"

namespace knnmi {

// Bets that the next permuted estimate reaches the observed one with a probability that is uniform on (0, 0.6 alpha),
// against the (at_least + 1) / (made + 2) of exchangeable estimates. Under independence the wealth is a martingale that
// starts at 1, so it ever reaches w with a probability of 1 / w at most (Fischer and Ramdas 2025, "Sequential
// permutation testing by betting", arXiv:2401.07365).
double wealth(int at_least, int made, double alpha);

class StoppingRule {
public:
    // Found once for tests of one kind that follow each other on a thread: it may take a tenth of a millisecond.
    static std::shared_ptr<const StoppingRule> of(const Stopping& stopping, int permutations);

    // Of the sequential rule: the wealth that ends a test as dependent is the least at which the level, over all orders
    // of `permutations` + 1 exchangeable estimates, is at most alpha.
    StoppingRule(const Stopping& stopping, int permutations);

    // After how many permutations to look whether the test ends; the last look is after all. Never a matter of threads.
    // Between two looks there are whole batches, the observed y being in the first.
    const std::vector<int>& looks() const { return looks_; }

    bool ends(int at_least, std::size_t look) const;

    // For the sequential rule: the probability to call independent estimates dependent.
    double level() const;

private:
    bool is_dependent(int at_least) const;  // if that many of all permutations reached
    void find_rejections(double least_wealth);

    Stopping stopping_;
    int permutations_;
    int most_ = -1;  // the largest count that is dependent; -1: none is
    std::vector<int> looks_;
    std::vector<int> rejections_;  // of the sequential rule: at each look but the last, up to which count the test ends
};

}  // namespace knnmi
