// The module pyknnmi._core: arguments in, numbers out, and the GIL let go in between. Documented in pyknnmi/_core.pyi.
#include "arguments.hpp"
#include "calls.hpp"
#include "knnmi/build_info.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/permutation_test.hpp"
#include "register.hpp"

namespace py = pybind11;
using namespace py::literals;
using namespace knnmi;

namespace {

using Array = const py::array&;
using Text = const std::string&;
using Categories = bindings::Sample::Categories;
using Numbers = py::array_t<std::uint32_t, py::array::c_style>;

std::vector<std::uint32_t> numbers_of(const Numbers& given) { return {given.data(), given.data() + given.size()}; }

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

double core_entropy(Array x, int k, int threads, py::object poll) {
    const Points xs = bindings::points(x, "x");
    const Options options = bindings::options("auto", threads, poll);
    return bindings::without_gil([&] { return entropy(xs, k, options); });
}

double core_conditional_mutual_information(Array x, Array y, Array z, int k, Text estimator, Text engine, int threads,
                                           py::object poll, Categories categories) {
    const bindings::Sample sample(x, y, z, std::move(categories));
    const Options options = bindings::options(engine, threads, poll);
    const Neighborhood neighborhood(k, bindings::estimator(estimator));
    return bindings::without_gil(
        [&] { return conditional_mutual_information(sample.x, sample.y, sample.z, neighborhood, options); });
}

py::array_t<double> core_conditional_mutual_informations(Array x, Array candidates, Array z, int k, Text estimator,
                                                         Text engine, int threads, py::object poll,
                                                         Categories categories) {
    const bindings::Sample sample(x, candidates, z, std::move(categories), "candidates");
    const Options options = bindings::options(engine, threads, poll);
    const Neighborhood neighborhood(k, bindings::estimator(estimator));
    return as_array(bindings::without_gil(
        [&] { return conditional_mutual_informations(sample.x, sample.y, sample.z, neighborhood, options); }));
}

py::tuple core_neighbor_counts(Array x, Array y, Array z, int k, Text engine, int threads, py::object poll,
                               Categories categories) {
    const bindings::Sample sample(x, y, z, std::move(categories));
    const Options options = bindings::options(engine, threads, poll);
    const NeighborCounts counts =
        bindings::without_gil([&] { return neighbor_counts(sample.x, sample.y, sample.z, k, options); });
    return py::make_tuple(as_array(counts.xz), as_array(counts.yz), as_array(counts.z));
}

double core_estimate_of_counts(const Numbers& xz, const Numbers& yz, const Numbers& z, int k) {
    const NeighborCounts counts{numbers_of(xz), numbers_of(yz), numbers_of(z), {}};
    return bindings::without_gil([&] { return estimate_of(counts, k); });
}

py::tuple core_permutation_test(Array x, Array y, Array z, int k, int permutations, std::uint64_t seed,
                                std::uint64_t stream, int neighbors, const Numbers& groups, bool whole_groups,
                                std::size_t block_length, std::size_t season, Text stop, double alpha, Text estimator,
                                Text engine, int threads, py::object poll, Categories categories) {
    const bindings::Sample sample(x, y, z, std::move(categories));
    const Options options = bindings::options(engine, threads, poll);
    const Neighborhood neighborhood(k, bindings::estimator(estimator));
    const Permutations drawn{permutations,       seed,         stream,       neighbors,
                             numbers_of(groups), whole_groups, block_length, season};
    const Stopping stopping{bindings::stop_when(stop), alpha};
    const PermutationResult result = bindings::without_gil(
        [&] { return permutation_test(sample.x, sample.y, sample.z, neighborhood, drawn, stopping, options); });
    return py::make_tuple(result.statistic, result.at_least, result.permutations, result.anytime_p_value);
}

py::tuple core_permuted_statistics(Array x, Array y, Array z, int k, int permutations, std::uint64_t seed,
                                   std::uint64_t stream, int neighbors, const Numbers& groups, bool whole_groups,
                                   std::size_t block_length, std::size_t season, Text estimator, Text engine,
                                   int threads, py::object poll, Categories categories) {
    const bindings::Sample sample(x, y, z, std::move(categories));
    const Options options = bindings::options(engine, threads, poll);
    const Neighborhood neighborhood(k, bindings::estimator(estimator));
    const Permutations drawn{permutations,       seed,         stream,       neighbors,
                             numbers_of(groups), whole_groups, block_length, season};
    const PermutedStatistics found = bindings::without_gil(
        [&] { return permuted_statistics(sample.x, sample.y, sample.z, neighborhood, drawn, options); });
    return py::make_tuple(found.statistic, as_array(found.permuted));
}

py::array_t<std::uint32_t> core_permuted_rows(Array z, int permutations, std::uint64_t seed, std::uint64_t stream,
                                              int neighbors, const Numbers& groups, bool whole_groups,
                                              std::size_t block_length, std::size_t season, std::uint32_t first,
                                              int threads, py::object poll, Categories categories) {
    const bindings::Sample sample(z, std::move(categories));
    const Options options = bindings::options("auto", threads, poll);
    const Permutations drawn{permutations,       seed,         stream,       neighbors,
                             numbers_of(groups), whole_groups, block_length, season};
    const std::vector<std::uint32_t> rows =
        bindings::without_gil([&] { return permuted_rows(sample.z, drawn, first, options); });
    return as_array(rows).reshape({static_cast<py::ssize_t>(permutations), static_cast<py::ssize_t>(sample.z.rows())});
}

py::array_t<std::uint32_t> core_swapped_rows(Array z, int permutations, std::uint64_t seed, std::uint64_t stream,
                                             int neighbors, std::uint32_t first, int threads, py::object poll) {
    const bindings::Sample sample(z, {});
    const Options options = bindings::options("auto", threads, poll);
    const Permutations drawn{permutations, seed, stream, neighbors};
    const std::vector<std::uint32_t> rows =
        bindings::without_gil([&] { return swapped_rows(sample.z, drawn, first, options); });
    return as_array(rows).reshape({static_cast<py::ssize_t>(permutations), static_cast<py::ssize_t>(sample.z.rows())});
}

py::dict core_build_info() {
    const BuildInfo info = build_info();
    return py::dict("nanoflann"_a = info.nanoflann, "nanoflann_source"_a = info.nanoflann_source,
                    "compiler"_a = info.compiler, "openmp"_a = info.openmp, "instruction_set"_a = info.instruction_set);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const bindings::InterpreterEnds&) {
            py::set_error(PyExc_SystemExit, "");  // ends the thread, without a word
        } catch (const UnusableInstructionSet& error) {
            py::set_error(py::module_::import("pyknnmi.errors").attr("ParameterError"), error.what());
        }
    });
    module.doc() = "k-nearest-neighbour estimates and the permutation test, in nats and the max norm.";
    py::module_::import("atexit").attr("register")(py::cpp_function(bindings::end_calls));
    module.def("entropy", core_entropy, "x"_a, "k"_a, "threads"_a = 0, "poll"_a = py::none());
    module.def("conditional_mutual_information", core_conditional_mutual_information, "x"_a, "y"_a, "z"_a, "k"_a,
               "estimator"_a = "ksg", "engine"_a = "auto", "threads"_a = 0, "poll"_a = py::none(),
               "categories"_a = Categories());
    module.def("conditional_mutual_informations", core_conditional_mutual_informations, "x"_a, "candidates"_a, "z"_a,
               "k"_a, "estimator"_a = "ksg", "engine"_a = "auto", "threads"_a = 0, "poll"_a = py::none(),
               "categories"_a = Categories());
    module.def("neighbor_counts", core_neighbor_counts, "x"_a, "y"_a, "z"_a, "k"_a, "engine"_a = "auto",
               "threads"_a = 0, "poll"_a = py::none(), "categories"_a = Categories());
    module.def("estimate_of_counts", core_estimate_of_counts, "xz"_a, "yz"_a, "z"_a, "k"_a);
    module.def("permutation_test", core_permutation_test, "x"_a, "y"_a, "z"_a, "k"_a, "permutations"_a = 200,
               "seed"_a = 0, "stream"_a = 0, "neighbors"_a = 0, "groups"_a = Numbers(0), "whole_groups"_a = false,
               "block_length"_a = 0, "season"_a = 1, "stop"_a = "never", "alpha"_a = 0.05, "estimator"_a = "ksg",
               "engine"_a = "auto", "threads"_a = 0, "poll"_a = py::none(), "categories"_a = Categories());
    module.def("permuted_statistics", core_permuted_statistics, "x"_a, "y"_a, "z"_a, "k"_a, "permutations"_a = 200,
               "seed"_a = 0, "stream"_a = 0, "neighbors"_a = 0, "groups"_a = Numbers(0), "whole_groups"_a = false,
               "block_length"_a = 0, "season"_a = 1, "estimator"_a = "ksg", "engine"_a = "auto", "threads"_a = 0,
               "poll"_a = py::none(), "categories"_a = Categories());
    module.def("permuted_rows", core_permuted_rows, "z"_a, "permutations"_a = 200, "seed"_a = 0, "stream"_a = 0,
               "neighbors"_a = 0, "groups"_a = Numbers(0), "whole_groups"_a = false, "block_length"_a = 0,
               "season"_a = 1, "first"_a = 0, "threads"_a = 0, "poll"_a = py::none(), "categories"_a = Categories());
    module.def("swapped_rows", core_swapped_rows, "z"_a, "permutations"_a = 200, "seed"_a = 0, "stream"_a = 0,
               "neighbors"_a = 10, "first"_a = 0, "threads"_a = 0, "poll"_a = py::none());
    module.def("build_info", core_build_info);
    bindings::register_block_regression(module);
}
