#pragma once

namespace knnmi {

// "Strictly less than rho" is meant up to a relative 1e-10: decimal-rounded data make distances that are equal in exact
// arithmetic differ in the last bit. A distance d is counted when d <= shrunken(rho); for rho = 0 coincident points
// are.
inline double shrunken(double rho) { return rho * (1.0 - 1e-10); }

// "At most rho", with the same allowance.
inline double widened(double rho) { return rho * (1.0 + 1e-10); }

}  // namespace knnmi
