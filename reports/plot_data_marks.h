#pragma once

#include <string>

#include "reports/plot_data.h"

// What a view adds to the points of its plot; `factor` is that of the axis' unit.

namespace fathom::plots {

/// A bound or a level further above the data than this is named, not drawn.
inline constexpr double bound_drawn_up_to = 3;

/// Fills in markers and stretches; whatever lies outside the axis, or has no place on it, is left out.
void make_marks(const View& view, double factor, bool logarithmic, PlotData& data);

/// Fills in the levels, and in words those that are far above the points.
void make_levels(const View& view, const std::string& unit, double factor, bool logarithmic, PlotData& data);

}  // namespace fathom::plots
