#pragma once

#include <string>
#include <vector>

#include "reports/plot.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// The gnuplot script of draw_bound_bars; every share is finite.
std::string bars_script(const std::vector<BoundBar>& bars, const Theme& theme, Source source);

}  // namespace fathom::plots
