#pragma once

#include <string>
#include <vector>

#include "reports/plot_data.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// The gnuplot script that writes the picture, as SVG, to standard output.
std::string script_of(const PlotData& data, const Theme& theme, Source source);

/// Whether the labels of the categories are too wide to stand side by side.
bool turned_labels(const std::vector<std::string>& categories);

/// A block of data for each series, `$s0` and so on: x, y, low, high, expected, bound.
std::string data_blocks(const PlotData& data);

}  // namespace fathom::plots
