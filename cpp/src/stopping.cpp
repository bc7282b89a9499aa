#include "stopping.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace knnmi {
namespace {

constexpr int most_sequential = 10'000;  // the level is found in a time that grows with the square

double largest_bet(double alpha) { return 0.6 * alpha; }

}  // namespace

// The ratio of the two probabilities of what was seen is P(B > at_least) / b, where B is binomial with made + 1 draws
// and probability b, the largest bet.
double wealth(int at_least, int made, double alpha) {
    const double bet = largest_bet(alpha);
    double term = std::pow(1.0 - bet, made + 1);
    if (term == 0.0) return 0.0;  // underflow; no bet is safe
    double below = 0.0;
    for (int j = 0; j <= at_least && j <= made + 1; ++j) {
        below += term;
        term *= (made + 1.0 - j) / (j + 1.0) * (bet / (1.0 - bet));
    }
    return std::max(0.0, 1.0 - below) / bet;
}

StoppingRule::StoppingRule(const Stopping& stopping, int permutations)
    : stopping_(stopping), permutations_(permutations) {
    if (stopping.when == StopWhen::all_made) return;
    if (!(stopping.alpha > 0.0 && stopping.alpha < 1.0))
        throw std::invalid_argument("alpha must be between 0 and 1 for a test that may stop early");
    if (stopping.when != StopWhen::sequential) return;
    if (permutations > most_sequential)
        throw std::invalid_argument("sequential stopping is for at most 10000 permutations");
    while (most_ + 1 <= permutations && is_dependent(most_ + 1)) ++most_;

    double low = 1.0, high = 1.0 / largest_bet(stopping.alpha);  // more wealth cannot be had
    find_rejections(high);
    if (most_ < 0) return;
    for (int step = 0; step < 30; ++step) {
        const double middle = low + (high - low) / 2;
        find_rejections(middle);
        (level() <= stopping.alpha ? high : low) = middle;
    }
    find_rejections(high);
}

bool StoppingRule::is_dependent(int at_least) const {
    return (at_least + 1.0) / (permutations_ + 1.0) < stopping_.alpha;
}

void StoppingRule::find_rejections(double least_wealth) {
    rejections_.clear();
    int count = -1;
    for (int made = look_every - 1; made < permutations_; made += look_every) {
        // The p-value of those made must be on the same side of alpha.
        while (count < most_ && wealth(count + 1, made, stopping_.alpha) >= least_wealth &&
               (count + 2.0) / (made + 1.0) < stopping_.alpha)
            ++count;
        rejections_.push_back(count);
    }
}

bool StoppingRule::ends(int at_least, int made) const {
    if (stopping_.when == StopWhen::all_made) return false;
    if (!is_dependent(at_least) || is_dependent(at_least + permutations_ - made)) return true;
    const auto look = static_cast<std::size_t>((made + 1) / look_every - 1);
    return stopping_.when == StopWhen::sequential && look < rejections_.size() && at_least <= rejections_[look];
}

// Of exchangeable estimates, the next one reaches the observed one with probability (at_least + 1) / (made + 2).
double StoppingRule::level() const {
    const auto counts = static_cast<std::size_t>(most_ + 1);
    std::vector<double> probability(counts);  // that so many reached, and that the test goes on
    if (counts > 0) probability[0] = 1.0;
    double rejected = 0.0;
    for (int made = 0; made < permutations_; ++made) {
        for (std::size_t count = counts; count-- > 0;) {
            const double reach = (static_cast<double>(count) + 1.0) / (made + 2.0);
            if (count + 1 < counts) probability[count + 1] += probability[count] * reach;
            probability[count] *= 1.0 - reach;
        }
        if ((made + 2) % look_every != 0 || made + 1 >= permutations_) continue;
        const int last = rejections_[static_cast<std::size_t>((made + 2) / look_every - 1)];
        for (int count = 0; count <= last; ++count) {
            rejected += probability[static_cast<std::size_t>(count)];
            probability[static_cast<std::size_t>(count)] = 0.0;
        }
    }
    for (const double left : probability) rejected += left;
    return rejected;
}

}  // namespace knnmi
