#include "reports/plot_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/plot_text.h"

namespace fathom::plots {
namespace {

constexpr std::size_t label_limit = 24;
constexpr double frame_width = 660;  // in pixels, roughly

/// Labels of markers share this many rows at the top, so that neighbours do not cover each other.
constexpr std::size_t label_rows = 3;

/// The middle of a stretch as the axis shows it.
double middle(const Scale& x, const Mark& stretch) {
  if (x.kind == Scale::Kind::linear) return std::midpoint(stretch.first_x, stretch.last_x);
  return std::sqrt(stretch.first_x * stretch.last_x);
}

double label_width(const std::string& label) {
  return static_cast<double>(std::min(length(label), label_limit)) * character_width / frame_width;
}

/// The row of each marker's label: the first in which it does not meet the one before.
std::vector<std::size_t> rows_of(const PlotData& data) {
  std::vector<double> taken_to(label_rows, -1);
  std::vector<std::size_t> rows;
  for (const Mark& marker : data.markers) {
    const double at = fraction(data.x, marker.first_x);
    std::size_t row = 0;
    while (row + 1 < label_rows && taken_to[row] > at) ++row;
    taken_to[row] = at + label_width(marker.label) + 0.03;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string marks_script(const PlotData& data, const Theme& theme) {
  std::string script;
  const std::vector<std::size_t> rows = rows_of(data);
  for (std::size_t i = 0; i < data.markers.size(); ++i) {
    const Mark& marker = data.markers[i];
    script += fmt::format(
        "set arrow from first {0}, graph 0 to first {0}, graph 1 nohead lw 1.6 dt (3,5) lc rgb "
        "'{1}' back\n",
        marker.first_x, theme.frame);
    if (marker.label.empty()) continue;
    // To the right of the line, unless that is beyond the frame.
    const bool left = fraction(data.x, marker.first_x) + label_width(marker.label) > 0.98;
    script +=
        fmt::format("set label {} at first {}, graph {} {} offset {},0 textcolor rgb '{}' front\n",
                    quoted(shortened(marker.label, label_limit)), marker.first_x,
                    0.955 - 0.075 * static_cast<double>(rows[i]), left ? "right" : "left",
                    left ? -0.5 : 0.5, theme.text);
  }
  for (const Mark& stretch : data.stretches) {
    if (stretch.label.empty()) continue;
    // Kept within the frame where the stretch is narrow and at its edge.
    const double at = fraction(data.x, middle(data.x, stretch));
    const double half = label_width(stretch.label) / 2 + 0.01;
    script += fmt::format(
        "set label {} at graph {}, first {} center offset 0,0.95 textcolor rgb '{}' front\n",
        quoted(shortened(stretch.label, label_limit)),
        std::clamp(at, half, std::max(half, 1 - half)), std::max(stretch.first_y, stretch.last_y),
        theme.text);
  }
  return script;
}

std::string stretches_block(const PlotData& data) {
  if (data.stretches.empty()) return "";
  std::string block = "$stretches << END\n";
  for (const Mark& s : data.stretches) {
    // One of a single point is drawn as a dot: its line has no length, but round caps.
    block += fmt::format("{} {}\n{} {}\n\n", s.first_x, s.first_y, s.last_x, s.last_y);
  }
  return block + "END\n";
}

std::string stretches_curve(const PlotData& data, const Theme& theme) {
  if (data.stretches.empty()) return "";
  // Wide and pale: the points show through, and it shows around them. Not under them, because
  // gnuplot clears the ground below the middle of an error bar.
  return fmt::format("$stretches with lines lw 9 lc rgb '#b0{}' notitle", theme.text.substr(1));
}

}  // namespace fathom::plots
