#pragma once

#include <string>
#include <vector>

#include "reports/plot.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// The gnuplot script of draw_hierarchy.
std::string hierarchy_script(const std::vector<LevelRow>& levels, const Theme& theme,
                             Source source);

}  // namespace fathom::plots
