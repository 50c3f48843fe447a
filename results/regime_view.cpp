#include "results/regime_view.h"

#include "results/format.h"

namespace fathom {

void draw_regimes(View& view, const Segmentation& curve, const std::string& x_unit,
                  const std::string& y_unit) {
  for (std::size_t i = 0; i < curve.regimes.size(); ++i) {
    const Regime& r = curve.regimes[i];
    const bool plateau = r.kind == Regime::Kind::plateau;
    view.stretches.push_back({r.first_x, r.first_y, r.last_x, r.last_y,
                              plateau ? format_quantity(r.level, y_unit) : ""});
    if (plateau && i + 1 < curve.regimes.size()) {
      view.markers.push_back({r.last_x, format_quantity(r.last_x, x_unit)});
    }
  }
}

}  // namespace fathom
