// The engine of the estimator by cells. Rows that are equal in a space form a cell there, and the rows of each cell are
// counted: no distances, and a time that grows with the number of rows.
#include <algorithm>
#include <numeric>

#include "engines.hpp"
#include "labels.hpp"
#include "parallel.hpp"

namespace knnmi {
namespace {

// The rows cell by cell, each a run of positions.
struct Cells {
    std::vector<std::size_t> ends;  // where each cell ends

    template <class Visit>
    void each(const Visit& visit) const {
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            visit(begin, end);
            begin = end;
        }
    }
};

// One thread's counts of the rows of a cell by their y.
class Tally {
public:
    explicit Tally(std::size_t rows) : labels_(rows), size_(rows) {}

    // The labels of y number `index` by position.
    void read(const ColumnSource& source, std::size_t width, std::size_t index, const Labels& rows) {
        values_.resize(rows.size() * width);
        source.write(index, values_);
        const Labels& of_row = y_.of(Points::row_major(values_.data(), rows.size(), width));
        for (std::size_t p = 0; p < rows.size(); ++p) labels_[p] = of_row[rows[p]];
    }

    // Calls consume(position, size) for all positions, with the number of rows that share both the cell and y.
    template <class Consume>
    void split(const Cells& cells, const Consume& consume) {
        cells.each([&](std::size_t begin, std::size_t end) {
            for (std::size_t p = begin; p < end; ++p) ++size_[labels_[p]];
            for (std::size_t p = begin; p < end; ++p) consume(p, size_[labels_[p]]);
            for (std::size_t p = begin; p < end; ++p) size_[labels_[p]] = 0;
        });
    }

private:
    std::vector<double> values_;
    RowLabels y_;
    Labels labels_;
    std::vector<std::uint32_t> size_;  // by label; all 0 between cells
};

// Rows are in the order of their cells in (x, z), which lie within those in z.
class CellEngine final : public NeighborEngine {
public:
    CellEngine(const Points& x, const Points& z, int k, const Options& options)
        : options_(options), psi_(x.rows()), rows_(x.rows()) {
        RowLabels of_x, of_z;
        const Labels &x_label = of_x.of(x), &z_label = of_z.of(z.empty() ? Points::none(x.rows()) : z);
        std::iota(rows_.begin(), rows_.end(), 0u);
        std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(z_label[a], x_label[a]) < std::pair(z_label[b], x_label[b]);
        });
        for (std::size_t p = 1; p <= rows_.size(); ++p) {
            const bool last = p == rows_.size();
            const bool z_ends = last || z_label[rows_[p]] != z_label[rows_[p - 1]];
            if (z_ends) z_.ends.push_back(p);
            if (z_ends || x_label[rows_[p]] != x_label[rows_[p - 1]]) xz_.ends.push_back(p);
        }
        const auto psi_sum = [&](const Cells& cells) {
            Sum sum = 0;
            cells.each([&](std::size_t begin, std::size_t end) { sum += Sum{psi_[end - begin]} * (end - begin); });
            return sum;
        };
        fixed_ = psi_sum(xz_) - psi_sum(z_) + Sum{psi_[static_cast<std::size_t>(k)]} * x.rows();
    }

    void sums(const ColumnSource& source, std::size_t width, std::size_t first, std::span<Sum> out) override {
        std::vector<Tally> tallies(static_cast<std::size_t>(thread_count(options_)), Tally(rows_.size()));
        parallel_for(out.size(), options_, [&](std::size_t i, int thread) {
            Tally& tally = tallies[static_cast<std::size_t>(thread)];
            tally.read(source, width, first + i, rows_);
            Sum sum = fixed_;
            tally.split(z_, [&](std::size_t, std::uint32_t size) { sum += psi_[size]; });
            tally.split(xz_, [&](std::size_t, std::uint32_t size) { sum -= psi_[size]; });
            out[i] = sum;
        });
    }

    NeighborCounts counts(const ColumnSource& source, std::size_t width, std::size_t index) override {
        const std::vector<std::uint32_t> none(rows_.size());
        NeighborCounts result{none, none, none, none};
        Tally tally(rows_.size());
        tally.read(source, width, index, rows_);
        tally.split(z_, [&](std::size_t p, std::uint32_t size) { result.yz[rows_[p]] = size - 1; });
        tally.split(xz_, [&](std::size_t p, std::uint32_t size) { result.joint[rows_[p]] = size - 1; });
        write_sizes(xz_, result.xz);
        write_sizes(z_, result.z);
        return result;
    }

private:
    void write_sizes(const Cells& cells, std::vector<std::uint32_t>& out) const {
        cells.each([&](std::size_t begin, std::size_t end) {
            for (std::size_t p = begin; p < end; ++p) out[rows_[p]] = static_cast<std::uint32_t>(end - begin - 1);
        });
    }

    Options options_;
    DigammaTable psi_;
    Labels rows_;   // by position
    Cells xz_, z_;  // without z, one cell
    Sum fixed_;     // what does not depend on y
};

}  // namespace

std::unique_ptr<NeighborEngine> make_cell_engine(const Points& x, const Points& z, const Neighborhood& neighborhood,
                                                 const Options& options) {
    return std::make_unique<CellEngine>(x, z, neighborhood.k, options);
}

}  // namespace knnmi
