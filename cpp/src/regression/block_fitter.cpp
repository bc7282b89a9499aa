#include "block_fitter.hpp"

#include <algorithm>
#include <cmath>

namespace knnmi::regression {
namespace {

// A gain below this is rounding.
constexpr double rounding = 1e-9;
// Of a target that is explained to the last digit this share is left.
constexpr double least_left = 1e-12;
// Of more pair blocks than these, only those are tried whose products go with the residual.
constexpr std::size_t pairs_without_screening = 15;

bool same_block(const BlockTerm& a, const BlockTerm& b) { return a[0] == b[0] && a[1] == b[1]; }

}  // namespace

BlockFitter::BlockFitter(const BlockTable& table, BlockFeature target, const BlockCosts& costs)
    : table_(table), target_(target), costs_(costs) {
    Strip products;
    table.target_products({target[0], -1, 0}, target, products.data());
    total_ = left_ = products[static_cast<std::size_t>(target[1])];
}

double BlockFitter::gain() const {
    if (!(total_ > 0)) return -cost_;
    return -half_log_determinant_ - 0.5 * static_cast<double>(table_.rows() - 1) * std::log(left_ / total_) - cost_;
}

BlockFitter::Left& BlockFitter::left_of(const BlockTerm& block) {
    Left& left = known_[{block[0], block[1]}];
    const std::size_t m = uses_.size();
    std::size_t first = left.shared.size() / width;
    left.shared.resize(m * width);
    for (std::size_t r = first; r < m;) {
        const std::size_t term = uses_[r].term;
        const BlockTable::Products products = table_.products(terms_[term], block);
        for (; r < m && uses_[r].term == term; ++r) {
            const double* from = products.values + uses_[r].feature * products.rows;
            double* to = left.shared.data() + r * width;
            if (products.columns == 1) {  // said apart, so that it is done in registers
                for (std::size_t i = 0; i < width; ++i) to[i] = uses_[r].deviation * from[i];
            } else {
                for (std::size_t i = 0; i < width; ++i) to[i] = uses_[r].deviation * from[i * products.columns];
            }
        }
    }
    table_.kernels.substitute(lower_.get(), stride_, first, m, left.shared.data());
    if (!left.begun) {
        left.gram = table_.own_products(block);
        table_.target_products(block, target_, left.right.data());
        left.begun = true;
        first = 0;
    }
    table_.kernels.downdate(left.shared.data() + first * width, solved_.data() + first, m - first, left.gram.data(),
                            left.right.data());
    return left;
}

BlockFitter::Choice BlockFitter::best_prior(const BlockTerm& block) {
    const Left& left = left_of(block);
    return best_prior(block, left.gram, left.right, left_);
}

BlockFitter::Choice BlockFitter::best_prior(const BlockTerm& block, const Tile& gram, const Strip& right,
                                            double left) const {
    const double half_freedom = 0.5 * static_cast<double>(table_.rows() - 1);
    Choice best{-1e300, 0};
    std::array<double, batch> root, drop;
    for (const auto& tried : table_.priors(block).batches) {
        table_.kernels.try_priors(gram.data(), right.data(), tried.features.data(), tried.features.size(),
                                  tried.deviations.data(), root.data(), drop.data());
        for (std::size_t i = 0; i < tried.numbers.size(); ++i) {
            const double share = std::max(1.0 - drop[i] / left, least_left);
            const double gain = -std::log(root[i]) - half_freedom * std::log(share);
            const std::int32_t prior = tried.numbers[i];
            if (gain > best.gain || (gain == best.gain && prior < best.prior)) best = {gain, prior};
        }
    }
    best.gain -= cost(block);
    return best;
}

// With S = I + F D F' of all blocks, and S' that without A, whose features have the deviations d:
// A'S'^-1 A = Q + Q d (I - d Q d)^-1 d Q for Q = A'S^-1 A, and the same with A'S^-1 y and y'S^-1 y (Woodbury).
BlockFitter::Choice BlockFitter::best_prior_of_member(const BlockTerm& term) {
    const Left& all = left_of(term);
    Tile gram = all.gram;
    Strip right = all.right;
    const auto& priors = table_.priors(term);
    std::array<std::size_t, width> used;
    std::array<double, width> d;
    std::size_t count = 0;
    for (std::size_t i = 0; i < width; ++i) {
        const double deviation = priors.deviation(static_cast<std::size_t>(term[2]), i);
        if (deviation > 0) {
            used[count] = i;
            d[count++] = deviation;
        }
    }
    // Rows of L^-1 [d Q, d q] for LL' = I - d Q d.
    std::array<double, width * width> lower;
    std::array<std::array<double, width + 1>, width> rows;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < width; ++j) rows[i][j] = d[i] * gram[used[i] * width + j];
        rows[i][width] = d[i] * right[used[i]];
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = (i == j ? 1.0 : 0.0) - rows[i][used[j]] * d[j];
            if (j < i) {
                for (std::size_t k = 0; k < j; ++k) sum -= lower[i * width + k] * lower[j * width + k];
                lower[i * width + j] = sum / lower[j * width + j];
            } else {
                for (std::size_t k = 0; k < j; ++k) sum -= lower[i * width + k] * lower[i * width + k];
                lower[i * width + i] = std::sqrt(std::max(sum, least_left));
            }
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            for (std::size_t j = 0; j <= width; ++j) rows[i][j] -= lower[i * width + k] * rows[k][j];
        }
        for (std::size_t j = 0; j <= width; ++j) rows[i][j] /= lower[i * width + i];
    }
    double left = left_;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            for (std::size_t k = 0; k < width; ++k) gram[j * width + k] += rows[i][j] * rows[i][k];
            right[j] += rows[i][j] * rows[i][width];
        }
        left += rows[i][width] * rows[i][width];
    }
    return best_prior(term, gram, right, left);
}

void BlockFitter::add(const BlockTerm& term) {
    const Left& left = left_of(term);
    const auto& priors = table_.priors(term);
    const std::size_t before = uses_.size();
    passed_.push_back({before, left_, half_log_determinant_, cost_});
    for (std::size_t i = 0; i < width; ++i) {
        const double deviation = priors.deviation(static_cast<std::size_t>(term[2]), i);
        if (deviation > 0 && table_.own_products(term)[i * width + i] > 0)
            uses_.push_back({terms_.size(), i, deviation});
    }
    const std::size_t m = uses_.size();
    if (m > stride_) {
        const std::size_t stride = std::max<std::size_t>(2 * m, 64);
        auto lower = std::make_unique_for_overwrite<double[]>(stride * stride);
        for (std::size_t r = 0; r < before; ++r) {
            std::copy_n(lower_.get() + r * stride_, r + 1, lower.get() + r * stride);
        }
        lower_ = std::move(lower);
        stride_ = stride;
    }
    solved_.resize(m);
    for (std::size_t r = before; r < m; ++r) {
        const Use& use = uses_[r];
        double* row = lower_.get() + r * stride_;
        for (std::size_t s = 0; s < before; ++s) row[s] = use.deviation * left.shared[s * width + use.feature];
        double solved = use.deviation * left.right[use.feature];
        for (std::size_t s = before; s <= r; ++s) {
            double sum = use.deviation * uses_[s].deviation * left.gram[use.feature * width + uses_[s].feature];
            if (s == r) sum += 1.0;
            const double* other = lower_.get() + s * stride_;
            for (std::size_t k = before; k < s; ++k) sum -= row[k] * other[k];
            if (s < r) {
                row[s] = sum / other[s];
                solved -= row[s] * solved_[s];
            } else {
                row[r] = std::sqrt(sum);
            }
        }
        solved_[r] = solved / row[r];
        left_ = std::max(left_ - solved_[r] * solved_[r], least_left * total_);
        half_log_determinant_ += std::log(row[r]);
    }
    terms_.push_back(term);
    cost_ += cost(term);
}

void BlockFitter::reset(const std::vector<BlockTerm>& terms) {
    const std::vector<BlockTerm> wanted = terms;  // may be our own
    const auto differ = std::mismatch(terms_.begin(), terms_.end(), wanted.begin(), wanted.end());
    const auto same = static_cast<std::size_t>(differ.first - terms_.begin());
    if (same < terms_.size()) {
        const Passed& at = passed_[same];
        left_ = at.left;
        half_log_determinant_ = at.half_log_determinant;
        cost_ = at.cost;
        for (auto& [block, left] : known_) {
            if (left.shared.size() <= at.uses * width) continue;
            left.shared.resize(at.uses * width);
            left.begun = false;
        }
        uses_.resize(at.uses);
        terms_.resize(same);
        passed_.resize(same);
    }
    for (auto next = differ.second; next != wanted.end(); ++next) add(*next);
}

std::vector<BlockTerm> BlockFitter::pairs_worth_trying(const std::vector<std::int32_t>& columns) const {
    // Under independence each squared correlation times n is about chi-squared with one degree of freedom.
    const double one = 2.0 * costs_.pair, all = static_cast<double>(width) + 2.0 * costs_.pair;
    std::vector<BlockTerm> chosen;
    table_.score_pairs(residual(), columns, columns, [&](std::size_t a, std::size_t b, double largest, double sum) {
        if (a < b && (largest >= one || sum >= all)) chosen.push_back({columns[a], columns[b], 0});
    });
    return chosen;
}

bool BlockFitter::grow(const std::vector<std::int32_t>& columns) {
    const bool screened = columns.size() * (columns.size() - 1) / 2 > pairs_without_screening;
    std::vector<BlockTerm> candidates;
    for (const std::int32_t j : columns) candidates.push_back({j, -1, 0});
    for (std::size_t a = 0; a < columns.size() && !screened; ++a) {
        for (std::size_t b = a + 1; b < columns.size(); ++b) candidates.push_back({columns[a], columns[b], 0});
    }
    bool grew = false;
    while (terms_.size() < costs_.most) {
        if (!add_best_of(candidates) && !(screened && add_best_of(pairs_worth_trying(columns)))) break;
        grew = true;
    }
    return grew;
}

bool BlockFitter::add_best_of(const std::vector<BlockTerm>& candidates) {
    Choice best{rounding, 0};
    const BlockTerm* chosen = nullptr;
    for (const BlockTerm& block : candidates) {
        const auto taken = [&](const BlockTerm& term) { return same_block(term, block); };
        if (std::any_of(terms_.begin(), terms_.end(), taken)) continue;
        const Choice choice = best_prior(block);
        if (choice.gain > best.gain) {
            best = choice;
            chosen = &block;
        }
    }
    if (chosen == nullptr) return false;
    add({(*chosen)[0], (*chosen)[1], best.prior});
    return true;
}

void BlockFitter::search(const std::vector<std::int32_t>& columns) {
    grow(columns);
    for (int pass = 0; pass < costs_.passes; ++pass) {
        bool changed = false;
        for (const BlockTerm& term : std::vector<BlockTerm>(terms_)) {
            const Choice choice = best_prior_of_member(term);
            const bool stays = choice.gain > rounding;
            if (stays && choice.prior == term[2]) continue;
            std::vector<BlockTerm> others;
            for (const BlockTerm& other : terms_) {
                if (!same_block(other, term)) others.push_back(other);
            }
            if (stays) others.push_back({term[0], term[1], choice.prior});
            reset(others);
            changed = true;
        }
        if (!changed) break;
        grow(columns);
    }
}

std::vector<double> BlockFitter::coefficients() const {
    const std::size_t m = uses_.size();
    std::vector<double> b(solved_.begin(), solved_.begin() + static_cast<std::ptrdiff_t>(m));
    for (std::size_t r = m; r-- > 0;) {
        for (std::size_t s = r + 1; s < m; ++s) b[r] -= lower_[s * stride_ + r] * b[s];
        b[r] /= lower_[r * stride_ + r];
    }
    for (std::size_t r = 0; r < m; ++r) b[r] *= uses_[r].deviation;
    return b;
}

std::vector<double> BlockFitter::residual() const {
    const std::size_t n = table_.rows();
    const std::vector<double> b = coefficients();
    std::vector<double> left(n), products;
    for (std::size_t row = 0; row < n; ++row) left[row] = table_.feature(row, target_);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        const double* values = table_.block(static_cast<std::size_t>(terms_[t][0]));
        if (terms_[t][1] >= 0) {
            table_.pair_block(terms_[t][0], terms_[t][1], products);
            values = products.data();
        }
        const std::size_t first = passed_[t].uses, end = t + 1 < terms_.size() ? passed_[t + 1].uses : uses_.size();
        for (std::size_t row = 0; row < n; ++row) {
            double fitted = 0.0;
            for (std::size_t r = first; r < end; ++r) fitted += b[r] * values[row * width + uses_[r].feature];
            left[row] -= fitted;
        }
    }
    return left;
}

}  // namespace knnmi::regression
