#include "probes/regime_view.h"

#include <cmath>

#include "results/format.h"

namespace fathom {

void draw_regimes(View& view, const Segmentation& curve, const std::string& x_unit,
                  const std::string& y_unit) {
  const auto u = [&](double x) { return ramp_coordinate(curve.scale, x); };
  for (std::size_t i = 0; i < curve.regimes.size(); ++i) {
    const Regime& r = curve.regimes[i];
    const bool plateau = r.kind == Regime::Kind::plateau;
    // A line in the ramp's scale is none on the plot's axis, log2 x: short ones stand for it.
    const int pieces = plateau || curve.scale == RampScale::log2 || r.first == r.last ? 1 : 8;
    double x = r.first_x, y = r.first_y;
    for (int piece = 1; piece <= pieces; ++piece) {
      double next_x = r.last_x, next_y = r.last_y;
      if (piece < pieces) {
        next_x = r.first_x * std::pow(r.last_x / r.first_x, static_cast<double>(piece) / pieces);
        next_y = std::lerp(r.first_y, r.last_y,
                           (u(next_x) - u(r.first_x)) / (u(r.last_x) - u(r.first_x)));
      }
      view.stretches.push_back(
          {x, y, next_x, next_y, plateau ? format_quantity(r.level, y_unit) : ""});
      x = next_x;
      y = next_y;
    }
    if (plateau && i + 1 < curve.regimes.size())
      view.markers.push_back({r.last_x, format_quantity(r.last_x, x_unit)});
  }
}

}  // namespace fathom
