#include "reports/plot_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/plot_text.h"

namespace fathom::plots {
namespace {

constexpr int plot_height = 460;
constexpr int key_row_height = 25;
constexpr std::size_t key_label_limit = 60;

/// More points than this on a line are drawn smaller, and many more smaller still.
constexpr std::size_t few_points = 40, some_points = 150;

std::string column(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "NaN";
}

/// How much a picture's key needs: its entries stand in columns below the plot.
struct KeyLayout {
  int columns = 1, rows = 0;
};

KeyLayout key_layout(const PlotData& data, const std::vector<std::string>& extra) {
  std::size_t longest = 0, entries = extra.size();
  for (const std::string& text : extra) longest = std::max(longest, length(text));
  if (data.series.size() > 1 || !extra.empty()) {
    for (const Series& series : data.series) longest = std::max(longest, length(series.label));
    entries += data.series.size();
  }
  longest = std::min(longest, key_label_limit);
  const double width = static_cast<double>(longest) * character_width + 85;
  KeyLayout layout;
  layout.columns = std::clamp(static_cast<int>((picture_width - 60) / width), 1, 6);
  layout.rows = (static_cast<int>(entries) + layout.columns - 1) / layout.columns;
  return layout;
}

std::string ticks(const char* axis, const Ticks& all) {
  std::string list;
  for (const auto& [at, text] : all) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", quoted_tick(text), at);
  }
  return fmt::format("set {} ({})\n", axis, list);
}

std::string category_ticks(const std::vector<std::string>& categories) {
  std::size_t longest = 0;
  for (const std::string& text : categories) longest = std::max(longest, length(text));
  const std::size_t shown = std::min<std::size_t>(longest, 24);
  const double room = 660.0 / static_cast<double>(categories.size());
  const bool turned = static_cast<double>(shown + 1) * character_width > room;
  // Turned labels need a line's height each; what does not fit is left out evenly.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(1.4 * font_size / room)));
  Ticks list;
  for (std::size_t i = 0; i < categories.size(); i += turned ? every : 1) {
    list.emplace_back(static_cast<double>(i), shortened(categories[i], 24));
  }
  return ticks("xtics", list) + (turned ? "set xtics rotate by -35\n" : "");
}

std::string axes_script(const PlotData& data, const Theme& theme) {
  std::string script = fmt::format(
      "set xlabel {} textcolor rgb '{}'\nset ylabel {} textcolor rgb '{}'\n"
      "set xrange [{}:{}] noextend\nset yrange [{}:{}] noextend\n",
      quoted(wrapped(data.x_label, 72, 2)), theme.text, quoted(wrapped(data.y_label, 36, 2)),
      theme.text, data.x.low, data.x.high, data.y.low, data.y.high);
  if (data.categories.empty()) {
    if (data.x.kind == Scale::Kind::log2) script += "set logscale x 2\n";
    script += ticks("xtics", data.x.ticks);
  } else {
    script += category_ticks(data.categories);
  }
  if (data.y.kind == Scale::Kind::log10) script += "set logscale y 10\n";
  return script + ticks("ytics", data.y.ticks);
}

std::string data_blocks(const PlotData& data) {
  std::string script;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    script += fmt::format("$s{} << END\n", i);
    for (const Point& p : data.series[i].points) {
      script += fmt::format("{} {} {} {} {} {}\n", p.x, p.y, column(p.low ? p.low : p.y),
                            column(p.high ? p.high : p.y), column(p.expected), column(p.bound));
    }
    script += "END\n";
  }
  return script;
}

/// The place of `y` between the ends of the axis, 0 to 1.
double fraction(const Scale& scale, double y) {
  if (scale.kind == Scale::Kind::linear) return (y - scale.low) / (scale.high - scale.low);
  return std::log(y / scale.low) / std::log(scale.high / scale.low);
}

/// Points lie on the far side of a bound; its label goes to the other, if it fits there.
bool label_below(const PlotData& data) {
  std::size_t above = 0, points = 0;
  for (const Series& series : data.series) {
    points += series.points.size();
    for (const Point& point : series.points) above += point.y > *data.bound ? 1 : 0;
  }
  return 2 * above > points && fraction(data.y, *data.bound) > 0.1;
}

std::string bound_label(const PlotData& data, const Theme& theme) {
  if (!data.bound || data.bound_beyond) return "";
  return fmt::format("set label {} at graph 0.995, first {} right offset 0,{} textcolor rgb '{}' front\n",
                     quoted(data.bound_text), *data.bound, label_below(data) ? -0.65 : 0.6, theme.text);
}

/// Curves that stand under the points: bound and expectation.
std::string reference_curves(const PlotData& data, const Theme& theme) {
  std::string curves;
  const auto add = [&](const std::string& curve) { curves += (curves.empty() ? "" : ", ") + curve; };
  if (data.bound && !data.bound_beyond) {
    add(fmt::format("{} with lines lw 2 dt (10,6) lc rgb '{}' notitle", *data.bound, theme.text));
  }
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& series = data.series[i];
    const std::string& color = series_color(theme, i);
    const bool line = series.connected && series.points.size() > 1;
    const char* half = data.words ? "0.12" : "0";
    if (data.bounds_differ) {
      add(line ? fmt::format("$s{} using 1:6 with lines lw 2 dt (10,6) lc rgb '{}' notitle", i, color)
               : fmt::format("$s{} using 1:6 with points pt 2 ps 1.1 lw 2 lc rgb '{}' notitle", i, color));
    }
    if (!data.has_expected) continue;
    if (line) {
      // Wide and pale, so that it still shows where the measured line lies on it.
      add(fmt::format("$s{} using 1:5 with lines lw 5.5 dt (1.2,1.6) lc rgb '#70{}' notitle", i,
                      color.substr(1)));
    } else {
      add(fmt::format("$s{} using ($1-{}):5:(2*{}+1e-9):(0) with vectors nohead lw 5.5 dt (0.8,0.8) "
                      "lc rgb '#70{}' notitle", i, half, half, color.substr(1)));
      add(fmt::format("$s{} using 1:5 with points pt 1 ps 1.3 lw 2 lc rgb '{}' notitle", i, color));
    }
  }
  return curves;
}

std::string series_curves(const PlotData& data, const Theme& theme, bool titled) {
  std::string curves;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& series = data.series[i];
    const std::size_t count = series.points.size();
    const double size = count <= few_points ? 1.0 : count <= some_points ? 0.6 : 0.3;
    const std::string& color = series_color(theme, i);
    if (data.has_intervals && count <= some_points) {
      curves += fmt::format("$s{} using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1.6 lc rgb '{}' notitle, ",
                            i, color);
    }
    const std::string label = series.label.empty() ? "measured" : shortened(series.label, key_label_limit);
    curves += fmt::format("$s{} using 1:2 with {} lw {} pt {} ps {} lc rgb '{}' {}{}", i,
                          series.connected ? "linespoints" : "points",
                          count <= some_points ? 2.2 : 1.2, point_type(i), size, color,
                          titled ? "title " + quoted(label) : "notitle",
                          i + 1 == data.series.size() ? "" : ", ");
  }
  return curves;
}

}  // namespace

std::string script_of(const PlotData& data, const Theme& theme, Source source) {
  std::vector<std::string> extra;
  if (data.has_expected) extra.push_back("expected");
  if (data.bounds_differ) extra.push_back("bound");
  if (data.bound_beyond) extra.push_back(data.bound_text + " (above this range)");
  const bool keyed = data.series.size() > 1 || !extra.empty();
  const KeyLayout layout = key_layout(data, extra);
  const bool key_titled = keyed && !data.key_title.empty() && data.series.size() > 1;

  const int key_rows = layout.rows + (key_titled ? 1 : 0);
  std::string script = preamble(theme, plot_height + key_rows * key_row_height, data.title, source);
  script += axes_script(data, theme) + bound_label(data, theme) + data_blocks(data);
  if (keyed) {
    script += fmt::format("set key below center horizontal Left reverse maxcols {} samplen 2.4 "
                          "spacing 1.15 textcolor rgb '{}'\n", layout.columns, theme.text);
    if (key_titled) script += "set key title " + quoted(shortened(data.key_title, 70)) + "\n";
  } else {
    script += "unset key\n";
  }
  const std::string references = reference_curves(data, theme);
  script += "plot " + references + (references.empty() ? "" : ", ") + series_curves(data, theme, keyed);
  if (data.has_expected) {
    script += fmt::format(", NaN with lines lw 5.5 dt (1.2,1.6) lc rgb '{}' title 'expected'", theme.frame);
  }
  if (data.bounds_differ || data.bound_beyond) {
    script += fmt::format(", NaN with lines lw 2 dt (10,6) lc rgb '{}' title {}", theme.text,
                          quoted(extra.back()));
  }
  return script + "\n";
}

}  // namespace fathom::plots
