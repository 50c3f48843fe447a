#include "probes/claims.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "results/text.h"

namespace fathom {

Conclude conclusion_of(std::string_view probe) {
#define FATHOM_IF(name) \
  if (probe == #name) return name::conclude;
  FATHOM_EACH_PROBE(FATHOM_IF)
#undef FATHOM_IF
  return {};
}

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

TwoGroups two_groups(std::span<const double> latencies) {
  if (latencies.empty()) throw std::invalid_argument("two_groups of no latencies");
  std::vector<double> sorted(latencies.begin(), latencies.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t trim = sorted.size() / 100;
  const std::span<const double> kept(sorted.begin() + trim, sorted.end() - trim);
  const double n = static_cast<double>(kept.size());
  const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / n;
  double variance = 0;
  for (const double x : kept) variance += (x - mean) * (x - mean) / n;

  TwoGroups best{mean, mean, 0};
  if (variance <= 0) return best;
  double low_sum = 0;
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) {
    low_sum += kept[i];
    if (kept[i] == kept[i + 1]) continue;  // equal latencies stay together
    const double low_n = static_cast<double>(i + 1), high_n = n - low_n;
    const double low = low_sum / low_n, high = (mean * n - low_sum) / high_n;
    const double between = low_n * high_n / (n * n) * (high - low) * (high - low) / variance;
    if (between > best.separation) best = {low, high, between};
  }
  return best;
}

}  // namespace fathom
