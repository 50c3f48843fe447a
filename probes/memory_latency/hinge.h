#pragma once

#include <optional>
#include <span>

#include "results/segmentation.h"

namespace fathom {

/// Where a curve changes its slope near `around`: the x at which two straight lines in log2 x, or
/// what `scale` says, that meet there fit the medians of the points best by least squares. Points
/// further away than a factor of `within` do not count. Where a change of slope is slight, this is
/// steadier than the boundary between two regimes, which lies between two points. Nothing with
/// fewer than three points to either side. Throws std::invalid_argument unless `around` is above
/// zero and `within` above one.
std::optional<double> hinge(std::span<const CurvePoint> curve, double around,
                            RampScale scale = RampScale::log2, double within = 1.3);

}  // namespace fathom
