#pragma once

#include <string>

#include "reports/plot_data.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// Commands before `plot` that draw the markers with their labels, and the stretches' labels.
std::string marks_script(const PlotData& data, const Theme& theme);

/// The stretches' data block; empty without any.
std::string stretches_block(const PlotData& data);

/// The stretches' curve, after all others in the list after `plot`; empty without any.
std::string stretches_curve(const PlotData& data, const Theme& theme);

}  // namespace fathom::plots
