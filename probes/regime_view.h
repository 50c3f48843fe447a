#pragma once

#include <string>

#include "results/document.h"
#include "results/segmentation.h"

namespace fathom {

/// Adds a curve's regimes to the plot that shows it: a stretch each, plateaus with their level in
/// `y_unit` as label, and where a plateau ends a marker with the last x that it holds, in `x_unit`.
/// Units as in format_quantity.
void draw_regimes(View& view, const Segmentation& curve, const std::string& x_unit,
                  const std::string& y_unit);

}  // namespace fathom
