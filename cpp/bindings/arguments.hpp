// From Python arguments to those of the library. Nothing is copied or cast.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "knnmi/estimators.hpp"
#include "knnmi/options.hpp"
#include "knnmi/permutation_test.hpp"
#include "knnmi/points.hpp"

namespace knnmi::bindings {

// A view of a matrix of float64, in any layout in which whole doubles are apart. The array must outlive it.
inline Points points(const pybind11::array& array, const std::string& name) {
    namespace py = pybind11;
    if (!array.dtype().equal(py::dtype::of<double>())) {
        throw py::type_error(name + " must be an array of float64 in the byte order of this machine, not of " +
                             py::str(array.dtype()).cast<std::string>());
    }
    if (array.ndim() != 2) {
        throw py::value_error(name + " must have 2 dimensions, not " + std::to_string(array.ndim()));
    }
    constexpr py::ssize_t size = sizeof(double);
    const bool aligned = (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
    if (!aligned || array.strides(0) % size != 0 || array.strides(1) % size != 0) {
        throw py::value_error(name + " is laid out so that its values cannot be read as they lie: copy it first");
    }
    return Points::strided(static_cast<const double*>(array.data()),
                           {static_cast<std::size_t>(array.shape(0)), static_cast<std::size_t>(array.shape(1))},
                           {array.strides(0) / size, array.strides(1) / size});
}

// x, y and z (or z alone) of one call. `categories` says of each of their columns, in this order, whether it is one;
// none is where it is empty.
class Sample {
public:
    using Categories = std::vector<unsigned char>;

    Sample(const pybind11::array& xs, const pybind11::array& ys, const pybind11::array& zs, Categories categories,
           const char* y_name = "y")
        : x(points(xs, "x")), y(points(ys, y_name)), z(points(zs, "z")), categories_(std::move(categories)) {
        mark({&x, &y, &z});
    }
    Sample(const pybind11::array& zs, Categories categories) : z(points(zs, "z")), categories_(std::move(categories)) {
        mark({&z});
    }
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

    Points x, y, z;

private:
    void mark(std::initializer_list<Points*> blocks) {
        std::size_t columns = 0;
        for (Points* const block : blocks) columns += block->columns();
        if (categories_.empty()) return;
        if (categories_.size() != columns)
            throw pybind11::value_error("categories must say it for " + std::to_string(columns) + " columns, not " +
                                        std::to_string(categories_.size()));
        const unsigned char* flags = categories_.data();
        for (Points* const block : blocks) {
            *block = block->with_categories(flags);
            flags += block->columns();
        }
    }

    Categories categories_;
};

inline Engine engine(const std::string& name) {
    if (name == "auto") return Engine::automatic;
    if (name == "tree") return Engine::tree;
    if (name == "single") return Engine::single;
    if (name == "batch") return Engine::batch;
    throw pybind11::value_error("engine must be 'auto', 'tree', 'single' or 'batch', not '" + name + "'");
}

inline Estimator estimator(const std::string& name) {
    if (name == "ksg") return Estimator::ksg;
    if (name == "mixed") return Estimator::mixed;
    if (name == "cells") return Estimator::cells;
    throw pybind11::value_error("estimator must be 'ksg', 'mixed' or 'cells', not '" + name + "'");
}

inline StopWhen stop_when(const std::string& name) {
    if (name == "never") return StopWhen::all_made;
    if (name == "certain") return StopWhen::certain;
    if (name == "sequential") return StopWhen::sequential;
    if (name == "reached") return StopWhen::reached;
    throw pybind11::value_error("stop must be 'never', 'certain', 'sequential' or 'reached', not '" + name + "'");
}

// Signals such as Ctrl-C are looked for, and `poll` is called unless it is None; what either raises ends the call and
// goes on to the caller. `poll` must outlive the options: they are copied where the GIL is not held, so they own no
// reference.
inline Options options(const std::string& engine_name, int threads, pybind11::handle poll) {
    namespace py = pybind11;
    const auto stop = [poll] {
        stop_if_interpreter_ends();
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (!poll.is_none()) poll();
        return false;
    };
    return {.engine = engine(engine_name), .threads = threads, .stop = stop};
}

}  // namespace knnmi::bindings
