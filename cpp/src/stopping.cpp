#include "stopping.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace knnmi {
namespace {

constexpr int most_sequential = 10'000;  // the level is found in a time that grows with the square

double largest_bet(double alpha) { return 0.6 * alpha; }

// Where a test may stop, it looks ever less often, for clear cases show early; every look makes the work that
// permutations share anew, which is a tenth of 200 of them. The first is where for alpha = 0.05 none reaching is
// evidence enough.
std::vector<int> looks_at(const Stopping& stopping, int permutations) {
    constexpr int batches = 16, most_at_once = 256;
    const bool may_stop = stopping.when != StopWhen::all_made;
    const auto rounded = [](double count) {
        return std::max(1, static_cast<int>(std::ceil(count / batches))) * batches;
    };
    std::vector<int> looks;
    int counted = 0;  // y's, the observed one too
    while (true) {
        const double longest = counted == 0 ? std::min(80.0, 0.4 * permutations)
                               : stopping.when == StopWhen::reached
                                   ? 0.8 * counted
                                   : std::min({0.8 * counted, 3.0 / stopping.alpha, 0.3 * permutations});
        const int step = may_stop ? rounded(longest) : most_at_once;
        if (step >= permutations - counted - batches) break;
        counted += step;
        looks.push_back(counted - 1);
    }
    looks.push_back(permutations);
    return looks;
}

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

std::shared_ptr<const StoppingRule> StoppingRule::of(const Stopping& stopping, int permutations) {
    thread_local std::shared_ptr<const StoppingRule> last;
    if (!last || last->stopping_ != stopping || last->permutations_ != permutations)
        last = std::make_shared<const StoppingRule>(stopping, permutations);
    return last;
}

StoppingRule::StoppingRule(const Stopping& stopping, int permutations)
    : stopping_(stopping), permutations_(permutations) {
    if (stopping.when != StopWhen::all_made && !(stopping.alpha > 0.0 && stopping.alpha < 1.0))
        throw std::invalid_argument("alpha must be between 0 and 1 for a test that may stop early");
    looks_ = looks_at(stopping, permutations);
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
    for (std::size_t look = 0; look + 1 < looks_.size(); ++look) {
        const int made = looks_[look];
        // The p-value of those made must be on the same side of alpha.
        while (count < most_ && wealth(count + 1, made, stopping_.alpha) >= least_wealth &&
               (count + 2.0) / (made + 1.0) < stopping_.alpha)
            ++count;
        rejections_.push_back(count);
    }
}

bool StoppingRule::ends(int at_least, std::size_t look) const {
    if (stopping_.when == StopWhen::all_made) return false;
    if (stopping_.when == StopWhen::reached) return at_least >= Stopping::enough;
    if (!is_dependent(at_least) || is_dependent(at_least + permutations_ - looks_[look])) return true;
    return look < rejections_.size() && at_least <= rejections_[look];
}

// Of exchangeable estimates, the next one reaches the observed one with probability (at_least + 1) / (made + 2).
double StoppingRule::level() const {
    const auto counts = static_cast<std::size_t>(most_ + 1);
    std::vector<double> probability(counts);  // that so many reached, and that the test goes on
    if (counts > 0) probability[0] = 1.0;
    double rejected = 0.0;
    int made = 0;
    for (std::size_t look = 0; look < looks_.size(); ++look) {
        for (; made < looks_[look]; ++made) {
            for (std::size_t count = counts; count-- > 0;) {
                const double reach = (static_cast<double>(count) + 1.0) / (made + 2.0);
                if (count + 1 < counts) probability[count + 1] += probability[count] * reach;
                probability[count] *= 1.0 - reach;
            }
        }
        const int last = look < rejections_.size() ? rejections_[look] : most_;
        for (int count = 0; count <= last; ++count) {
            rejected += probability[static_cast<std::size_t>(count)];
            probability[static_cast<std::size_t>(count)] = 0.0;
        }
    }
    return rejected;
}

}  // namespace knnmi
