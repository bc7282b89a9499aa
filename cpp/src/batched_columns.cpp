#include "batched_columns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parallel.hpp"

namespace knnmi {
namespace {

// By counting: `number` gives each item one of 0 to numbers - 1.
template <class Number>
void sort_by_number(std::vector<std::size_t>& items, std::size_t numbers, const Number& number) {
    std::vector<std::uint32_t> next(numbers + 1);
    for (const std::size_t item : items) ++next[number(item) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<std::size_t> sorted(items.size());
    for (const std::size_t item : items) sorted[next[number(item)]++] = item;
    items = std::move(sorted);
}

}  // namespace

BatchedColumns::BatchedColumns(const BatchLayout& layout, const ColumnSource& source, std::size_t first,
                               std::size_t count, const Options& options)
    : points_(layout.rows.size()),
      rows_(layout.stride),
      columns_(count),
      sets_(layout.sets.size()),
      values_(batches() * rows_ * batch_size),
      in_sets_(batches() * batch_size * sets_),
      set_lines_(in_sets_.size()),
      own_places_(sets_ == 0 ? 0 : values_.size()),
      ascending_(std::make_unique<MadeLater<OwnAscendingColumn>[]>(columns_)) {
    if (source.rows) {
        permuted_.resize(points_);
        source.write(0, permuted_);
    }
    if (source.rows && (layout.line != nullptr || sets_ > 0)) {
        places_.resize(points_);
        std::uint32_t place = 0;
        for (const std::uint32_t row : ascending_rows(Points::single_column(permuted_.data(), points_)))
            places_[row] = place++;
    }
    if (layout.line != nullptr) {
        std::vector<double> values = permuted_;
        if (values.empty()) {
            values.resize(points_);
            source.write(first, values);
        }
        sorted_ = std::make_shared<SortedColumn>(values);
        ranked_.resize(columns_);
        lines_.resize(columns_);
    }
    for (std::size_t column = 0; column < columns_; ++column) {
        categories_.push_back(source.is_category(first + column, 0));
        if (categories_.back() == 0) continue;
        if (caps_.empty()) caps_.assign(batches() * batch_size, cap_of(false));
        caps_[column] = cap_of(true);
    }
    parallel_for(batches(), options, [&](std::size_t b, int) { fill(b, layout, source, first); });
}

Points BatchedColumns::by_position(std::size_t column) const {
    const double* const first = batch(column / batch_size).values + column % batch_size;
    return Points::strided(first, {points_, 1}, {batch_size, 1}).with_categories(&categories_[column]);
}

AscendingColumn BatchedColumns::ascending(std::size_t column) const {
    const auto make = [&](OwnAscendingColumn& made) {
        const Points values = by_position(column);
        made.rows = ascending_rows(values);
        made.places.resize(points_);
        made.values.resize(points_);
        for (std::size_t place = 0; place < points_; ++place) {
            made.places[made.rows[place]] = static_cast<std::uint32_t>(place);
            made.values[place] = values(made.rows[place], 0);
        }
    };
    return ascending_[column].get(make).view(cap_of(categories_[column] != 0));
}

void BatchedColumns::fill(std::size_t b, const BatchLayout& layout, const ColumnSource& source, std::size_t first) {
    std::vector<double> values(points_);
    std::vector<std::uint32_t> rows(permuted_.size()), places(places_.size());
    std::vector<std::size_t> members;
    double* const out = values_.data() + b * rows_ * batch_size;
    for (std::size_t lane = 0; lane < columns_in(b); ++lane) {
        const std::size_t column = b * batch_size + lane;
        if (source.rows)
            source.rows(first + column, rows);
        else
            source.write(first + column, values);
        for (std::size_t row = 0; row < rows.size(); ++row) values[row] = permuted_[rows[row]];
        for (std::size_t row = 0; row < places.size(); ++row) places[row] = places_[rows[row]];
        for (std::size_t position = 0; position < values.size(); ++position)
            out[position * batch_size + lane] = values[layout.rows[position]];
        for (std::size_t set = 0; set < sets_; ++set) {
            members.clear();
            for (const std::uint32_t block : layout.sets[set].blocks)
                for (std::size_t p = block * block_size; p < (block + 1) * block_size; ++p) members.push_back(p);
            if (places.empty())
                std::sort(members.begin(), members.end(), [&](std::size_t p, std::size_t q) {
                    return out[p * batch_size + lane] < out[q * batch_size + lane];
                });
            else
                sort_by_number(members, points_, [&](std::size_t p) { return places[layout.rows[p]]; });
            std::vector<double> among;
            for (const std::size_t p : members) {
                if (set >= layout.first_placed)
                    own_places_[(b * rows_ + p) * batch_size + lane] = static_cast<std::uint32_t>(among.size());
                among.push_back(out[p * batch_size + lane]);
            }
            const std::size_t at = (b * sets_ + set) * batch_size + lane;
            in_sets_[at] = std::make_unique<SortedColumn>(among);
            set_lines_[at] = {.points = among.size(),
                              .y = &in_sets_[at]->view(),
                              .z = nullptr,
                              .ranks = nullptr,
                              .by_rank = nullptr,
                              .places = nullptr,
                              .by_place = nullptr,
                              .grid = nullptr,
                              .grid_shift = 0,
                              .y_cap = cap_of(source.is_category(first + column, 0)),
                              .z_cap = 0.0};
        }
        if (layout.line == nullptr) continue;
        ranked_[column].emplace(sorted_, *layout.line, values, cap_of(source.is_category(first + column, 0)),
                                *layout.kernels, layout.alone, places);
        lines_[column] = ranked_[column]->view();
    }
}

}  // namespace knnmi
