#pragma once

#include <string>

#include "reports/plot_data.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// The gnuplot script that writes the picture, as SVG, to standard output.
std::string script_of(const PlotData& data, const Theme& theme, Source source);

}  // namespace fathom::plots
