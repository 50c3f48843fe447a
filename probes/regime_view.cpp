#include "probes/regime_view.h"

#include <cmath>

#include "results/format.h"

namespace fathom {
namespace {

/// A line in the ramp's scale is none on the plot's axis, log2 x: short ones stand for it.
void draw_ramp(View& view, const Regime& ramp, RampScale scale) {
  const int pieces = scale == RampScale::log2 || ramp.first == ramp.last ? 1 : 8;
  const double first = ramp_coordinate(scale, ramp.first_x);
  const double last = ramp_coordinate(scale, ramp.last_x);
  double x = ramp.first_x, y = ramp.first_y;
  for (int i = 1; i <= pieces; ++i) {
    const double next_x = i == pieces ? ramp.last_x
                                      : ramp.first_x * std::pow(ramp.last_x / ramp.first_x,
                                                                static_cast<double>(i) / pieces);
    const double next_y =
        i == pieces ? ramp.last_y
                    : std::lerp(ramp.first_y, ramp.last_y,
                                (ramp_coordinate(scale, next_x) - first) / (last - first));
    view.stretches.push_back({x, y, next_x, next_y, ""});
    x = next_x;
    y = next_y;
  }
}

}  // namespace

void draw_regimes(View& view, const Segmentation& curve, const std::string& x_unit,
                  const std::string& y_unit) {
  for (std::size_t i = 0; i < curve.regimes.size(); ++i) {
    const Regime& r = curve.regimes[i];
    const bool plateau = r.kind == Regime::Kind::plateau;
    if (plateau) {
      view.stretches.push_back(
          {r.first_x, r.first_y, r.last_x, r.last_y, format_quantity(r.level, y_unit)});
    } else {
      draw_ramp(view, r, curve.scale);
    }
    if (plateau && i + 1 < curve.regimes.size())
      view.markers.push_back({r.last_x, format_quantity(r.last_x, x_unit)});
  }
}

}  // namespace fathom
