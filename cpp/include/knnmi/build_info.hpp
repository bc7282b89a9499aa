// How this library was built, for records of what made a result.
#pragma once

#include <string>

namespace knnmi {

struct BuildInfo {
    std::string nanoflann;         // version of the header, as it calls itself
    std::string nanoflann_source;  // where the build found it
    std::string compiler;
    std::string openmp;           // date of its specification, yyyymm; empty without OpenMP
    std::string instruction_set;  // that the engines run on here
};

BuildInfo build_info();

}  // namespace knnmi
