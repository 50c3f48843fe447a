#pragma once

#include <string>
#include <vector>

#include "reports/plot.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// "256 KiB"; a dash for a figure that is not known. One line.
std::string text_of(const LevelFigure& figure);

/// The gnuplot script of draw_hierarchy.
std::string hierarchy_script(const std::vector<LevelRow>& levels, const Theme& theme,
                             Source source);

}  // namespace fathom::plots
