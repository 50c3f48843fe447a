#include "reports/plot_data_marks.h"

#include <algorithm>

#include "reports/plot_figure.h"
#include "reports/plot_text.h"
#include "results/clean_text.h"
#include "results/format.h"

namespace fathom::plots {

void make_marks(const View& view, double factor, bool logarithmic, PlotData& data) {
  if (!data.categories.empty()) return;
  double low = largest_figure, high = -largest_figure;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  const auto on_x = [&](double x) { return x >= low && x <= high; };
  const auto on_y = [&](double y) { return drawable(y) && (!logarithmic || y > 0); };
  for (const PlotMarker& m : view.markers) {
    if (on_x(m.x)) data.markers.push_back({m.x, 0, m.x, 0, clean(m.label)});
  }
  for (const PlotStretch& s : view.stretches) {
    if (!on_x(s.first_x) || !on_x(s.last_x) || !on_y(s.first_y) || !on_y(s.last_y)) continue;
    data.stretches.push_back(
        {s.first_x, s.first_y / factor, s.last_x, s.last_y / factor, clean(s.label)});
  }
  const auto by_x = [](const Mark& a, const Mark& b) { return a.first_x < b.first_x; };
  std::stable_sort(data.markers.begin(), data.markers.end(), by_x);
  std::stable_sort(data.stretches.begin(), data.stretches.end(), by_x);
}

void make_levels(const View& view, const std::string& unit, double factor, bool logarithmic,
                 PlotData& data) {
  double highest = 0;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) highest = std::max(highest, point.y);
  }
  for (const PlotLevel& level : view.levels) {
    if (!drawable(level.y) || (logarithmic && level.y <= 0)) continue;
    const std::string label = clean(level.label + ": " + format_quantity(level.y, unit));
    if (!logarithmic && level.y / factor > bound_drawn_up_to * highest) {
      data.beyond += (data.beyond.empty() ? "" : ", ") + label;
    } else {
      data.levels.push_back({level.y / factor, label});
    }
  }
  std::ranges::stable_sort(data.levels, {}, &Level::y);
}

}  // namespace fathom::plots
