#include "reports/plot_ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/plot_script.h"
#include "reports/plot_text.h"
#include "results/format.h"

namespace fathom::plots {
namespace {

// In pixels.
constexpr int row_height = 30, tick_label_height = 42, label_height = 28, key_row_height = 29;
constexpr int foot_height = 14, level_height = 25;
constexpr std::size_t row_label_limit = 38, text_limit = 14, key_label_limit = 40;

/// Colours repeat from the ninth series on; the key then says less than it takes.
constexpr std::size_t most_keyed = 8;

std::size_t longest_of(const std::vector<std::string>& texts, std::size_t limit) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, std::min(length(text), limit));
  return longest;
}

/// Whether the figures have room for their units; if not, the axis alone has the unit.
bool units_fit(const PlotData& data) {
  for (const Series& series : data.series) {
    for (const Point& point : series.points) {
      if (length(point.text) > text_limit) return false;
    }
  }
  return true;
}

std::string point_label(const std::string& text, bool with_unit) {
  return with_unit ? text : text.substr(0, text.find(' '));
}

/// Whether each word has one figure: then there is room for its text.
bool one_figure_each(const PlotData& data) {
  std::size_t points = 0;
  for (const Series& series : data.series) points += series.points.size();
  return points <= data.categories.size();
}

std::string rows_script(const PlotData& data, const Theme& theme) {
  std::string ticks;
  for (std::size_t i = 0; i < data.categories.size(); ++i) {
    ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                         quoted_tick(shortened(data.categories[i], row_label_limit)), i);
  }
  return fmt::format(
      "set yrange [{}:-0.5] noextend\nset ytics ({}) scale 0 textcolor rgb '{}'\nset grid "
      "noytics\n",
      static_cast<double>(data.categories.size()) - 0.5, ticks, theme.text);
}

/// `width` in pixels. Of ticks whose labels would meet the first stays.
std::string figures_axis(const PlotData& data, double width) {
  Ticks kept;
  double taken_to = -width;
  for (const auto& [at, text] : data.y.ticks) {
    const double place = width * fraction(data.y, at);
    const double half = static_cast<double>(length(text)) * character_width / 2;
    if (place - half < taken_to) continue;
    taken_to = place + half + character_width;
    kept.emplace_back(at, text);
  }
  return fmt::format("set xrange [{}:{}] noextend\n{}", data.y.low, data.y.high,
                     data.y.kind == Scale::Kind::log10 ? "set logscale x 10\n" : "") +
         ticks_script("xtics", kept);
}

/// The levels as lines from the foot up to their names above the frame. The lowest level's name is
/// nearest to the frame: each stands left of its line, where the lines of higher levels do not
/// pass, or where there is no room, from the picture's edge on, and its line ends below it.
std::string levels_script(const PlotData& data, const Theme& theme, double top, double left,
                          double right, double height) {
  constexpr double gap = 8, edge = 4;
  std::string script;
  double y = top + level_height / 2.0 + 2;
  for (std::size_t i = 0; i < data.levels.size(); ++i, y += level_height) {
    const Level& level = data.levels[i];
    const std::string& colour = i == 0 ? theme.series[1] : i == 1 ? theme.text : theme.frame;
    const double place = left + (right - left) * fraction(data.y, level.y);
    const double width = static_cast<double>(length(level.label)) * character_width;
    const bool fits = place - gap - edge >= width;
    script += fmt::format(
        "set arrow from first {0}, graph 0 to first {0}, screen {1} nohead lw 2 dt (10,6) lc rgb "
        "'{2}' back\n"
        "set label {3} at screen {4}, screen {5} {6} textcolor rgb '{2}' front\n",
        level.y, (fits ? y : y - level_height / 2.0) / height, colour, quoted(level.label),
        (fits ? place - gap : edge) / picture_width, y / height, fits ? "right" : "left");
  }
  return script;
}

}  // namespace

bool reads_as_ladder(const PlotData& data) {
  return data.words && (turned_labels(data.categories) || !data.levels.empty()) &&
         !data.has_expected && !data.bound && !data.bounds_differ;
}

std::string ladder_script(const PlotData& data, const Theme& theme, Source source) {
  const bool keyed = data.series.size() > 1 && data.series.size() <= most_keyed;
  const bool texts = one_figure_each(data), with_unit = units_fit(data);
  // At the end of the row the axis' unit holds for all of them.
  const auto label_of = [&](const Point& point) {
    return data.levels.empty() ? point_label(point.text, with_unit) : format_number(point.y);
  };
  std::vector<std::string> labels, names;
  for (const Series& series : data.series) {
    names.push_back(shortened(series.label, key_label_limit));
    for (const Point& point : series.points) labels.push_back(label_of(point));
  }
  const auto wide = [](std::size_t characters) {
    return static_cast<double>(characters) * character_width;
  };
  const double left = wide(longest_of(data.categories, row_label_limit)) + 38;
  const double right = picture_width - (texts ? wide(longest_of(labels, text_limit)) + 30 : 30);
  // gnuplot counts the columns that fit between the margins.
  const auto key_columns = std::clamp(
      static_cast<int>((right - left) / (wide(longest_of(names, key_label_limit)) + 70)), 1, 6);
  const int key_rows = keyed ? (static_cast<int>(names.size()) + key_columns - 1) / key_columns : 0;
  const int key_title = foot_height + key_rows * key_row_height + label_height / 2;
  const int bottom = key_title + label_height / 2 + (keyed ? label_height : 0) + tick_label_height;
  const int top = bottom + row_height * static_cast<int>(data.categories.size()) + 10;
  const int levels = level_height * static_cast<int>(data.levels.size());
  const int height = top + levels + 24 +
                     static_cast<int>(title_lines(data.title, source).size()) * title_line_height;
  const auto up = [&](double pixels) { return pixels / height; };

  std::string script = preamble(theme, height, data.title, source);
  if (source == Source::replay) script += watermark(theme, "graph 0.5, graph 0.5", 100, 20);
  script += fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
      "set tmargin at screen {}\n"
      "set label {} at screen {}, screen {} center textcolor rgb '{}'\n",
      left / picture_width, right / picture_width, up(bottom), up(top),
      quoted(shortened(data.y_label, 60)), (left + right) / 2 / picture_width,
      up(bottom - tick_label_height - label_height / 2.0), theme.text);
  script += rows_script(data, theme) + figures_axis(data, right - left);
  script += keyed ? fmt::format(
                        "set key at screen 0.5, screen {} center bottom horizontal Left "
                        "reverse maxcols {} samplen 1 spacing 1.15 textcolor rgb '{}'\n",
                        up(foot_height), key_columns, theme.text)
                  : "unset key\n";
  if (keyed) {
    script += fmt::format("set label {} at screen 0.5, screen {} center textcolor rgb '{}'\n",
                          quoted(shortened(data.key_title, 70) + ":"), up(key_title), theme.frame);
  }
  script += levels_script(data, theme, top, left, right, height) + data_blocks(data);

  std::string stems, dots;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const std::string& colour = series_color(theme, i);
    // From the axis' foot, which is zero only where the axis has it.
    stems += fmt::format(
        "$s{0} using ({1}):1:($2-({1})):(0) with vectors nohead lw 2.4 lc rgb "
        "'#90{2}' notitle, ",
        i, std::max(data.y.low, data.y.kind == Scale::Kind::log10 ? data.y.low : 0),
        colour.substr(1));
    if (data.has_intervals) {
      dots += fmt::format(
          "$s{} using 2:1:3:4 with xerrorbars pt 0 ps 0 lw 1.6 lc rgb '{}' notitle, ", i, colour);
    }
    dots += fmt::format("$s{} using 2:1 with points pt {} ps 1.2 lc rgb '{}' {}{}", i,
                        point_type(i), colour, keyed ? "title " + plots::quoted(names[i]) : "notitle",
                        i + 1 == data.series.size() ? "\n" : ", ");
    for (const Point& point : data.series[i].points) {
      if (!texts || point.text.empty()) continue;
      // Beside the point, or where levels would run through it, at the end of the row.
      const double beside = std::max(point.y, point.high.value_or(point.y));
      script += fmt::format(
          "set label {} at {}, first {} left offset 1,0 textcolor rgb '{}' front\n",
          quoted(shortened(label_of(point), text_limit)),
          data.levels.empty() ? fmt::format("first {}", beside) : "graph 1", point.x, theme.text);
    }
  }
  return script + "plot " + stems + dots;
}

}  // namespace fathom::plots
