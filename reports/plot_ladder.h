#pragma once

#include <string>

#include "reports/plot_data.h"
#include "reports/plot_style.h"

namespace fathom::plots {

/// Whether the data's words are better read from the top down: too wide to stand side by side, and
/// without bounds or expectations, which the other picture shows.
bool reads_as_ladder(const PlotData& data);

/// The words as rows, each with its figures as dots and, where it has one, the figure's text.
std::string ladder_script(const PlotData& data, const Theme& theme, Source source);

}  // namespace fathom::plots
