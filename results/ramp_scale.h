#pragma once

#include <cmath>

namespace fathom {

/// What ramps of a curve are straight lines in.
enum class RampScale {
  log2,  ///< log2 x
  /// -1/x: of x bytes that are visited in random order, a cache that keeps any S of them misses the
  /// share 1 - S/x, so that a mean over hits and misses is a line in it, whatever a miss costs.
  share,
};

/// Ascends with x, which is above zero.
inline double ramp_coordinate(RampScale scale, double x) {
  return scale == RampScale::log2 ? std::log2(x) : -1 / x;
}

/// The x of such a coordinate.
inline double from_ramp_coordinate(RampScale scale, double u) {
  return scale == RampScale::log2 ? std::exp2(u) : -1 / u;
}

}  // namespace fathom
