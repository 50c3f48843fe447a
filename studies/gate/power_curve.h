#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "studies/gate/simulation.h"
#include "reports/plot.h"

namespace fathom::gate {

/// How often slowdowns of one size were confirmed.
struct PowerPoint {
  double slower = 0;  ///< relative: 0.03 is 3 %
  Share caught;
};

/// "98.00 % (95.70 to 99.26 %)": the share and its interval.
std::string share_text(const Share& share);

/// Draws folder/<stem>-light.svg and <stem>-dark.svg, the shares with their intervals against the
/// slowdown. Nothing without gnuplot.
std::optional<Picture> draw_power(const std::vector<PowerPoint>& curve, const std::string& title,
                                  const std::filesystem::path& folder, const std::string& stem);

}  // namespace fathom::gate
