// What each file of bindings adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace knnmi::bindings {

void register_block_regression(pybind11::module_& module);

}  // namespace knnmi::bindings
