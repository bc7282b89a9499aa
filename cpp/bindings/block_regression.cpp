// Regressions on blocks of features, bound as the class BlockRegression. Documented in pyknnmi/_core.pyi.
#include "knnmi/block_regression.hpp"

#include <pybind11/stl.h>

#include "arguments.hpp"
#include "register.hpp"

namespace knnmi::bindings {
namespace {

namespace py = pybind11;
using namespace py::literals;

using Features = const py::array_t<double, py::array::c_style>&;

std::vector<BlockPriors> as_priors(const std::vector<std::vector<std::array<double, 16>>>& tables) {
    std::vector<BlockPriors> priors(tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
        for (const auto& row : tables[t])
            priors[t].deviations.insert(priors[t].deviations.end(), row.begin(), row.end());
    }
    return priors;
}

std::unique_ptr<BlockRegression> make(Features features, const std::vector<std::uint8_t>& kinds,
                                      const std::vector<std::vector<std::array<double, 16>>>& main,
                                      const std::vector<std::array<double, 16>>& pair,
                                      const std::array<std::int32_t, 4>& pair_features, int threads, py::object poll) {
    if (features.ndim() != 3 || features.shape(2) != 16 ||
        features.shape(0) != static_cast<py::ssize_t>(kinds.size())) {
        throw py::value_error("features must have the shape (columns, rows, 16), and kinds one number a column");
    }
    BlockFeatures table{
        {features.data(), features.data() + features.size()}, static_cast<std::size_t>(features.shape(1)), kinds};
    const Options how = options("auto", threads, poll);
    return without_gil([&] {
        return std::make_unique<BlockRegression>(std::move(table), as_priors(main), as_priors({pair}).front(),
                                                 pair_features, how);
    });
}

using Terms = std::vector<BlockTerm>;
using Columns = std::vector<std::int32_t>;

std::vector<FittedTarget> fitted(const std::vector<std::pair<BlockFeature, Terms>>& fits) {
    std::vector<FittedTarget> all;
    for (const auto& [target, terms] : fits) all.push_back({target, terms});
    return all;
}

}  // namespace

void register_block_regression(py::module_& module) {
    using Fits = std::vector<std::pair<BlockFeature, Terms>>;
    py::class_<BlockRegression>(module, "BlockRegression")
        .def(py::init(&make), "features"_a, "kinds"_a, "main_priors"_a, "pair_priors"_a, "pair_features"_a,
             "threads"_a = 0, "poll"_a = py::none())
        .def(
            "fits",
            [](const BlockRegression& self, const std::vector<std::tuple<BlockFeature, Columns, Terms>>& searches,
               double main_cost, double pair_cost, std::size_t most, int passes, int threads, py::object poll) {
                std::vector<BlockSearch> all;
                for (const auto& [target, columns, start] : searches) all.push_back({target, columns, start});
                const Options how = options("auto", threads, poll);
                const std::vector<BlockFit> found =
                    without_gil([&] { return self.fits(all, {main_cost, pair_cost, most, passes}, how); });
                std::vector<std::pair<Terms, double>> result;
                for (const BlockFit& fit : found) result.emplace_back(fit.terms, fit.gain);
                return result;
            },
            "searches"_a, "main_cost"_a, "pair_cost"_a, "most"_a, "passes"_a, "threads"_a = 0, "poll"_a = py::none())
        .def(
            "main_gains",
            [](const BlockRegression& self, const Fits& fits, const std::vector<Columns>& candidates, double main_cost,
               int threads, py::object poll) {
                const Options how = options("auto", threads, poll);
                return without_gil([&] { return self.main_gains(fitted(fits), candidates, {main_cost, 0.0}, how); });
            },
            "fits"_a, "candidates"_a, "main_cost"_a, "threads"_a = 0, "poll"_a = py::none())
        .def(
            "pair_scores",
            [](const BlockRegression& self, const Fits& fits, const std::vector<Columns>& candidates,
               const std::vector<Columns>& with, int threads, py::object poll) {
                const Options how = options("auto", threads, poll);
                return without_gil([&] { return self.pair_scores(fitted(fits), candidates, with, how); });
            },
            "fits"_a, "candidates"_a, "with_"_a, "threads"_a = 0, "poll"_a = py::none())
        .def(
            "without",
            [](const BlockRegression& self, const Fits& fits, const Columns& columns, double main_cost,
               double pair_cost, int threads, py::object poll) {
                const Options how = options("auto", threads, poll);
                return without_gil([&] { return self.without(fitted(fits), columns, {main_cost, pair_cost}, how); });
            },
            "fits"_a, "columns"_a, "main_cost"_a, "pair_cost"_a, "threads"_a = 0, "poll"_a = py::none())
        .def(
            "coefficients",
            [](const BlockRegression& self, const BlockFeature& target, const Terms& terms) {
                return without_gil([&] { return self.coefficients({target, terms}); });
            },
            "target"_a, "terms"_a)
        .def(
            "residual",
            [](const BlockRegression& self, const BlockFeature& target, const Terms& terms) {
                return without_gil([&] { return self.residual({target, terms}); });
            },
            "target"_a, "terms"_a)
        .def(
            "products",
            [](const BlockRegression& self, const Fits& responses, const std::vector<Fits>& sources,
               const std::vector<Columns>& given, const std::vector<std::vector<double>>& mixtures,
               std::size_t bin_rows, int threads, py::object poll) {
                std::vector<std::vector<FittedTarget>> all;
                for (const Fits& fits : sources) all.push_back(fitted(fits));
                const Options how = options("auto", threads, poll);
                const std::vector<std::vector<ProductGroup>> found =
                    without_gil([&] { return self.products(fitted(responses), all, given, mixtures, bin_rows, how); });
                std::vector<std::vector<std::tuple<std::int32_t, double, std::array<double, 3>>>> result;
                for (const auto& groups : found) {
                    auto& one = result.emplace_back();
                    for (const ProductGroup& group : groups) one.emplace_back(group.column, group.sum, group.traces);
                }
                return result;
            },
            "responses"_a, "sources"_a, "given"_a, "mixtures"_a, "bin_rows"_a, "threads"_a = 0, "poll"_a = py::none());
}

}  // namespace knnmi::bindings
