#pragma once

#include <vector>

#include "results/segmentation.h"

namespace fathom {

/// The cut of a curve into regimes with the least penalised cost (criterion and sources:
/// results/segmentation.h), each with its kind, its points, and the fit's y at their ends. `u`
/// ascends, `y` is above zero with a relative standard deviation of `noise`, points that are not
/// `used` cost nothing; all as long. Plateaus have at least three used points, ramps too unless
/// they join two plateaus; a curve of fewer is one plateau.
std::vector<Regime> best_partition(const std::vector<double>& u, const std::vector<double>& y,
                                   const std::vector<bool>& used, double noise);

}  // namespace fathom
