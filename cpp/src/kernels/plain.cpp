#define KNNMI_ISA plain
#include "kernels/table.hpp"

namespace knnmi {

extern const Kernels plain_kernels;
const Kernels plain_kernels = plain::table("plain");

}  // namespace knnmi
