#pragma once

#include <string>
#include <vector>

#include "fleet/sections.h"
#include "results/document.h"

namespace fathom::fleet {

/// A point of a picture made of figures that are none of one GPU's.
Entry point(std::string name, Axes axes, double percent);

/// Draws a view of them onto the page, as `stem`-light.svg and `stem`-dark.svg beside it; nothing
/// where there is no gnuplot.
void show(FleetWriting& to, const View& view, const std::vector<Entry>& entries,
          const std::string& stem);

}  // namespace fathom::fleet
