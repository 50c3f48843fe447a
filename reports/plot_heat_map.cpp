#include "reports/plot_heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/plot_text.h"

namespace fathom::plots {
namespace {

// Heights and widths in pixels.
constexpr int row_height = 26, least_height = 160, most_height = 430;
constexpr int tick_label_height = 40, label_height = 26, foot_height = 14, watermark_height = 84;
constexpr int colour_bar_left = 644, colour_bar_width = 20, frame_right = 626;
constexpr std::size_t colour_label_limit = 34;

/// Colours in the file: enough for the eye, and few enough for the image in it to compress well.
constexpr int colour_count = 32;

/// Every 17th of the 256 colours of viridis, whose lightness grows evenly, also for readers who see
/// few colours: `_viridis_data` in matplotlib's lib/matplotlib/_cm_listed.py (CC0).
constexpr std::array<std::array<double, 3>, 16> viridis{{{0.267004, 0.004874, 0.329415},
                                                         {0.282656, 0.100196, 0.422160},
                                                         {0.277134, 0.185228, 0.489898},
                                                         {0.253935, 0.265254, 0.529983},
                                                         {0.221989, 0.339161, 0.548752},
                                                         {0.190631, 0.407061, 0.556089},
                                                         {0.163625, 0.471133, 0.558148},
                                                         {0.139147, 0.533812, 0.555298},
                                                         {0.120565, 0.596422, 0.543611},
                                                         {0.134692, 0.658636, 0.517649},
                                                         {0.208030, 0.718701, 0.472873},
                                                         {0.327796, 0.773980, 0.406640},
                                                         {0.477504, 0.821444, 0.318195},
                                                         {0.647257, 0.858400, 0.209861},
                                                         {0.824940, 0.884720, 0.106217},
                                                         {0.993248, 0.906157, 0.143936}}};

std::string palette() {
  std::string colours;
  for (std::size_t i = 0; i < viridis.size(); ++i) {
    const auto& [red, green, blue] = viridis[i];
    colours += fmt::format("{}{} {} {} {}", i == 0 ? "" : ", ", i, red, green, blue);
  }
  return fmt::format("set palette defined ({}) maxcolors {}\n", colours, colour_count);
}

/// Every so many ticks that their labels do not meet.
Ticks thinned(const Ticks& all, double room, double wanted) {
  const auto every = static_cast<std::size_t>(
      std::max(1.0, std::ceil(wanted * static_cast<double>(all.size()) / room)));
  Ticks kept;
  for (std::size_t i = 0; i < all.size(); i += every) kept.push_back(all[i]);
  return kept;
}

std::size_t longest_label(const Ticks& ticks) {
  std::size_t longest = 0;
  for (const auto& [at, text] : ticks) longest = std::max(longest, length(text));
  return longest;
}

std::string tick_command(const char* axis, const Ticks& all, const Theme& theme) {
  std::string list;
  for (const auto& [at, text] : all) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", quoted_tick(text), at);
  }
  return fmt::format("set {} ({}) nomirror out scale 0.4 textcolor rgb '{}'\n", axis, list,
                     theme.text);
}

/// Each cell as several pixels: where a viewer enlarges the image, it blurs what lies between
/// pixels.
struct Pixels {
  std::size_t across = 1, down = 1;  ///< of one cell

  static Pixels of(const HeatMap& map) {
    return {std::max<std::size_t>(1, 600 / map.cells.front().size()),
            std::max<std::size_t>(1, 400 / map.cells.size())};
  }
  static Ticks placed(Ticks ticks, std::size_t pixels) {
    for (auto& tick : ticks) tick.first = (tick.first + 0.5) * static_cast<double>(pixels) - 0.5;
    return ticks;
  }
};

std::string cells_block(const HeatMap& map, const Pixels& pixels) {
  std::string block = "$cells << END\n";
  for (const auto& row : map.cells) {
    std::string line;
    for (const double value : row) {
      const std::string cell =
          std::isfinite(value)
              ? fmt::format("{:.6g} ", std::clamp(value, map.colours.low, map.colours.high))
              : "NaN ";
      for (std::size_t i = 0; i < pixels.across; ++i) line += cell;
    }
    for (std::size_t i = 0; i < pixels.down; ++i) block += line + '\n';
  }
  return block + "END\n";
}

}  // namespace

std::string heat_map_script(const HeatMap& map, const Theme& theme, Source source) {
  const auto rows = static_cast<int>(map.cells.size());
  const Pixels pixels = Pixels::of(map);
  const int frame_height = std::clamp(rows * row_height, least_height, most_height);
  // The image hides what is behind it: a replay's watermark has a strip of its own.
  const int strip = source == Source::replay ? watermark_height : 0;
  const auto title = static_cast<int>(title_lines(map.title, source).size());
  const int bottom = foot_height + strip + label_height + tick_label_height;
  const int top = bottom + frame_height, height = top + 22 + title * title_line_height;
  const Ticks row_ticks = thinned(map.rows, frame_height, font_size + 4);
  const double left = 54 + character_width * static_cast<double>(longest_label(row_ticks));
  const double column_room = static_cast<double>(longest_label(map.columns) + 2) * character_width;
  const auto across = [](double pixels) { return pixels / picture_width; };
  const auto up = [&](double pixels) { return pixels / height; };

  std::string script = preamble(theme, height, map.title, source) + palette();
  script += fmt::format(
      "unset grid\nunset key\nset border 15\n"
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
      "set tmargin at screen {}\n"
      "set xrange [-0.5:{}] noextend\nset yrange [{}:-0.5] noextend\nset cbrange [{}:{}]\n",
      across(left), across(frame_right), up(bottom), up(top),
      static_cast<double>(map.cells.front().size() * pixels.across) - 0.5,
      static_cast<double>(map.cells.size() * pixels.down) - 0.5, map.colours.low, map.colours.high);
  if (map.colours.kind == Scale::Kind::log10) script += "set logscale cb 10\n";
  script += fmt::format(
      "set colorbox vertical user origin screen {}, screen {} size screen {}, screen {} noborder\n",
      across(colour_bar_left), up(bottom), across(colour_bar_width), up(frame_height));
  const Ticks column_ticks = thinned(map.columns, frame_right - left, column_room);
  script += tick_command("xtics", Pixels::placed(column_ticks, pixels.across), theme) +
            "set xtics offset 0,0.35\n" +
            tick_command("ytics", Pixels::placed(row_ticks, pixels.down), theme) +
            tick_command("cbtics", map.colours.ticks, theme);
  script += fmt::format("set label {} at screen {}, screen {} center textcolor rgb '{}'\n",
                        quoted(shortened(map.x_label, 60)), across((left + frame_right) / 2),
                        up(bottom - tick_label_height - label_height / 2.0), theme.text);
  const auto sideways = [&](const std::string& text, double x) {
    script +=
        fmt::format("set label {} at screen {}, screen {} center rotate by 90 textcolor rgb '{}'\n",
                    quoted(shortened(text, colour_label_limit)), across(x),
                    up(bottom + frame_height / 2.0), theme.text);
  };
  sideways(map.y_label, 16);
  sideways(map.colour_label,
           colour_bar_left + colour_bar_width + 40 +
               character_width * static_cast<double>(longest_label(map.colours.ticks)));
  if (source == Source::replay) {
    script += watermark(theme, fmt::format("screen 0.5, screen {}", up(foot_height + strip / 2.0)),
                        60, 0);
  }
  return script + cells_block(map, pixels) + "plot $cells matrix with image notitle\n";
}

}  // namespace fathom::plots
