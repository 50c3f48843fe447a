#include "reports/plot_hierarchy.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/plot_text.h"

namespace fathom::plots {
namespace {

constexpr int row_height = 46, head_height = 86, foot_height = 16;
constexpr std::size_t figure_limit = 14;

// Centres of the columns, as shares of the picture's width.
constexpr double size_at = 0.54, latency_at = 0.72, bandwidth_at = 0.89;

/// The level nearest to the SM is the narrowest box: its left edge is here, the last one's at 0.02.
constexpr double narrowest = 0.14;

}  // namespace

std::string hierarchy_script(const std::vector<LevelRow>& levels, const Theme& theme,
                             Source source) {
  const auto rows = static_cast<int>(levels.size());
  // Boxes hide what is behind them: a replay's watermark has rows of its own.
  const int watermark_height = source == Source::replay ? 2 * row_height : 0;
  const int height = head_height + rows * row_height + watermark_height + foot_height;
  const auto from_top = [&](double pixels) { return 1 - pixels / height; };
  std::string script = preamble(theme, height, "The memory hierarchy", source);
  script +=
      "unset border\nunset tics\nunset grid\nunset key\nset xrange [0:1]\nset yrange [0:1]\n"
      "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n"
      "set bmargin at screen 0\n";
  const auto label = [&](const std::string& text, std::size_t limit, double x, double y,
                         const char* side, const std::string& color) {
    script += fmt::format("set label {} at screen {}, screen {} {} textcolor rgb '{}' front\n",
                          quoted(shortened(one_line(text), limit)), x, y, side, color);
  };
  const double heads = from_top(head_height - 14);
  label("size", figure_limit, size_at, heads, "center", theme.frame);
  label("latency", figure_limit, latency_at, heads, "center", theme.frame);
  label("bandwidth", figure_limit, bandwidth_at, heads, "center", theme.frame);
  for (int i = 0; i < rows; ++i) {
    const LevelRow& level = levels[static_cast<std::size_t>(i)];
    const double left = 0.02 + (narrowest - 0.02) * (rows - 1 - i) / std::max(rows - 1, 1);
    const double top = head_height + i * row_height;
    const double middle = from_top(top + row_height / 2.0);
    script += fmt::format(
        "set object rectangle from screen {}, screen {} to screen 0.98, screen {} back "
        "fillcolor rgb '#c0{}' fillstyle solid 1 border lc rgb '{}' linewidth 1.4\n",
        left, from_top(top + row_height - 4), from_top(top), theme.series[0].substr(1),
        theme.series[0]);
    const double room = size_at - 0.07 - left - 0.02;
    label(level.name, static_cast<std::size_t>(room * picture_width / character_width), left + 0.02,
          middle, "left", theme.text);
    label(level.size, figure_limit, size_at, middle, "center", theme.text);
    label(level.latency, figure_limit, latency_at, middle, "center", theme.text);
    label(level.bandwidth, figure_limit, bandwidth_at, middle, "center", theme.text);
  }
  if (source == Source::replay) {
    const double at = from_top(head_height + rows * row_height + watermark_height / 2.0);
    script += watermark(theme, fmt::format("screen 0.5, screen {}", at), 60, 0);
  }
  return script + "plot NaN notitle\n";
}

}  // namespace fathom::plots
