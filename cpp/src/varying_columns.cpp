#include "varying_columns.hpp"

namespace knnmi {
namespace {

bool is_constant(const Points& column) {
    for (std::size_t i = 1; i < column.rows(); ++i)
        if (column(i, 0) != column(0, 0)) return false;
    return true;
}

}  // namespace

VaryingColumns::VaryingColumns(const Points& z) : z_(z) {
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < z.columns(); ++c)
        if (!is_constant(z.column(c))) kept.push_back(c);
    if (kept.size() == z.columns()) return;
    if (kept.empty()) kept.push_back(0);
    for (const std::size_t c : kept) {
        categories_.push_back(z.is_category(c));
        for (std::size_t i = 0; i < z.rows(); ++i) values_.push_back(z(i, c));
    }
}

Points VaryingColumns::points() const {
    if (values_.empty()) return z_;
    return Points::column_major(values_.data(), z_.rows(), categories_.size()).with_categories(categories_.data());
}

}  // namespace knnmi
