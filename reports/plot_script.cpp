#include "reports/plot_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/plot_marks.h"
#include "reports/plot_text.h"

namespace fathom::plots {
namespace {

// Heights in pixels. They are fixed here rather than left to gnuplot, which does not know how wide
// the reader's font is.
constexpr int frame_height = 320;
constexpr int tick_label_height = 40;
constexpr int label_line_height = 26, key_row_height = 29, foot_height = 14;
constexpr std::size_t key_label_limit = 60;
/// A key taller than the frame would say less than it hides: colours repeat from the ninth series on.
constexpr int key_row_limit = 8;

/// More points than this on a line are drawn smaller, and many more smaller still.
constexpr std::size_t few_points = 40, some_points = 150;

std::string column(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "NaN";
}

constexpr std::size_t turned_label_limit = 20;

std::size_t longest_of(const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, length(text));
  return longest;
}

/// Room for the labels of the ticks below the frame.
int tick_height(const std::vector<std::string>& categories) {
  if (!turned_labels(categories)) return tick_label_height;
  const auto shown = static_cast<double>(std::min(longest_of(categories), turned_label_limit));
  return 30 + static_cast<int>(shown * character_width * 0.574);  // sine of 35 degrees
}

/// What the key says beside the names of the series, in its order.
std::vector<std::string> reference_names(const PlotData& data) {
  std::vector<std::string> names;
  if (data.has_expected) names.push_back("expected");
  if (data.bounds_differ) names.push_back("bound");
  if (data.bound_beyond) names.push_back(data.bound_text + " (above this range)");
  return names;
}

/// What stands where, in pixels from the foot of the picture upwards.
struct Layout {
  int key_columns = 1, key_rows = 0;
  std::size_t named = 0;  ///< series in the key; further ones are counted there
  bool keyed = false, key_titled = false;
  int key_title = 0, x_label = 0, bottom = 0, top = 0, height = 0;
};

Layout layout_of(const PlotData& data, std::size_t title_lines, std::size_t x_label_lines) {
  Layout layout;
  const std::vector<std::string> references = reference_names(data);
  layout.keyed = data.series.size() > 1 || !references.empty();
  layout.key_titled = data.series.size() > 1 && !data.key_title.empty();
  std::size_t longest = longest_of(references);
  for (const Series& series : data.series) longest = std::max(longest, length(series.label));
  const double entry_width =
      static_cast<double>(std::min(longest, key_label_limit)) * character_width + 85;
  layout.key_columns = std::clamp(static_cast<int>((picture_width - 60) / entry_width), 1, 6);
  auto entries = static_cast<int>(data.series.size() + references.size());
  layout.named = data.series.size();
  if (const int room = layout.key_columns * key_row_limit; entries > room) {
    layout.named -= static_cast<std::size_t>(entries + 1 - room);  // one place says how many more
    entries = room;
  }
  if (layout.keyed) layout.key_rows = (entries + layout.key_columns - 1) / layout.key_columns;

  int at = foot_height + layout.key_rows * key_row_height;
  layout.key_title = at + label_line_height / 2;
  if (layout.key_titled) at += label_line_height;
  at += static_cast<int>(x_label_lines) * label_line_height;
  layout.x_label = at - label_line_height / 2;
  layout.bottom = at + tick_height(data.categories);
  layout.top = layout.bottom + frame_height;
  layout.height = layout.top + 30 + static_cast<int>(title_lines) * title_line_height;
  return layout;
}

std::string layout_script(const PlotData& data, const Theme& theme, const Layout& layout,
                          const std::vector<std::string>& x_label) {
  const auto share = [&](int pixels) { return static_cast<double>(pixels) / layout.height; };
  std::string script = fmt::format(
      "set bmargin at screen {}\nset tmargin at screen {}\n"
      "set label {} at graph 0.5, screen {} center textcolor rgb '{}'\n",
      share(layout.bottom), share(layout.top), quoted(x_label), share(layout.x_label), theme.text);
  if (!layout.keyed) return script + "unset key\n";
  script += fmt::format(
      "set key at screen 0.5, screen {} center bottom horizontal Left reverse maxcols {} samplen "
      "2.4 "
      "spacing 1.15 textcolor rgb '{}'\n",
      share(foot_height), layout.key_columns, theme.text);
  if (layout.key_titled) {
    script += fmt::format("set label {} at screen 0.5, screen {} center textcolor rgb '{}'\n",
                          quoted(shortened(data.key_title, 70) + ":"), share(layout.key_title),
                          theme.frame);
  }
  return script;
}

std::string category_ticks(const std::vector<std::string>& categories) {
  const double room = 660.0 / static_cast<double>(categories.size());
  const bool turned = turned_labels(categories);
  // Turned labels stand a line's height apart; what does not fit is left out evenly.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(2.2 * font_size / room)));
  Ticks list;
  for (std::size_t i = 0; i < categories.size(); i += turned ? every : 1) {
    list.emplace_back(static_cast<double>(i),
                      turned ? shortened(categories[i], turned_label_limit) : categories[i]);
  }
  if (!turned) return ticks_script("xtics", list);
  // The last label reaches beyond the frame, by the cosine of 35 degrees of its width.
  const auto last = static_cast<double>(length(list.back().second));
  const double right = std::max(last * character_width * 0.82 - room / 2, 0.0) + 30;
  return ticks_script("xtics", list) +
         fmt::format("set xtics rotate by -35 offset 0,0\nset rmargin at screen {}\n",
                     1 - right / picture_width);
}

std::string axes_script(const PlotData& data, const Theme& theme) {
  std::string script = fmt::format(
      "set ylabel {} textcolor rgb '{}'\n"
      "set xrange [{}:{}] noextend\nset yrange [{}:{}] noextend\n",
      quoted(wrapped(data.y_label, 34, 2)), theme.text, data.x.low, data.x.high, data.y.low,
      data.y.high);
  if (data.categories.empty()) {
    if (data.x.kind == Scale::Kind::log2) script += "set logscale x 2\n";
    script += ticks_script("xtics", data.x.ticks);
  } else {
    script += category_ticks(data.categories);
  }
  if (data.y.kind == Scale::Kind::log10) script += "set logscale y 10\n";
  return script + ticks_script("ytics", data.y.ticks);
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
  return fmt::format(
      "set label {} at graph 0.995, first {} right offset 0,{} textcolor rgb '{}' front\n",
      quoted(data.bound_text), *data.bound, label_below(data) ? -0.65 : 0.6, theme.text);
}

/// The view's levels: lines across with their names.
std::string levels_script(const PlotData& data, const Theme& theme) {
  std::string script;
  for (const Level& level : data.levels) {
    script += fmt::format(
        "set arrow from graph 0, first {0} to graph 1, first {0} nohead lw 2 dt (10,6) lc rgb '{1}' back\n"
        "set label {2} at graph 0.995, first {0} right offset 0,0.6 textcolor rgb '{1}' front\n",
        level.y, theme.frame, quoted(level.label));
  }
  return script;
}

/// Curves that stand under the points: bound and expectation.
std::string reference_curves(const PlotData& data, const Theme& theme) {
  std::string curves;
  const auto add = [&](const std::string& curve) {
    curves += (curves.empty() ? "" : ", ") + curve;
  };
  if (data.bound && !data.bound_beyond) {
    add(fmt::format("{} with lines lw 2 dt (10,6) lc rgb '{}' notitle", *data.bound, theme.text));
  }
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& series = data.series[i];
    const std::string& color = series_color(theme, i);
    const bool line = series.connected && series.points.size() > 1;
    const char* half = data.words ? "0.12" : "0";
    if (data.bounds_differ) {
      add(line ? fmt::format("$s{} using 1:6 with lines lw 2 dt (10,6) lc rgb '{}' notitle", i,
                             color)
               : fmt::format("$s{} using 1:6 with points pt 2 ps 1.1 lw 2 lc rgb '{}' notitle", i,
                             color));
    }
    if (!data.has_expected) continue;
    if (line) {
      // Wide and pale, so that it still shows where the measured line lies on it.
      add(fmt::format("$s{} using 1:5 with lines lw 5.5 dt (1.2,1.6) lc rgb '#70{}' notitle", i,
                      color.substr(1)));
    } else {
      add(fmt::format(
          "$s{} using ($1-{}):5:(2*{}+1e-9):(0) with vectors nohead lw 5.5 dt (0.8,0.8) "
          "lc rgb '#70{}' notitle",
          i, half, half, color.substr(1)));
      if (!data.words) {
        add(fmt::format("$s{} using 1:5 with points pt 1 ps 1.3 lw 2 lc rgb '{}' notitle", i,
                        color));
      }
    }
  }
  return curves;
}

/// Whether many points of different series lie on each other: then the earlier series are drawn
/// wider, and show around the later ones.
bool series_coincide(const PlotData& data) {
  std::map<double, std::vector<double>> places;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) places[point.x].push_back(fraction(data.y, point.y));
  }
  std::size_t points = 0, hidden = 0;
  for (auto& [x, heights] : places) {
    std::sort(heights.begin(), heights.end());
    points += heights.size();
    for (std::size_t i = 1; i < heights.size(); ++i) hidden += heights[i] - heights[i - 1] < 0.01;
  }
  return 4 * hidden > points;
}

std::string series_curves(const PlotData& data, const Theme& theme, std::size_t titled) {
  std::string curves;
  const bool staggered = data.series.size() > 1 && series_coincide(data);
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& series = data.series[i];
    const std::size_t count = series.points.size();
    const double last = std::max(1.0, static_cast<double>(data.series.size()) - 1);
    const double wider = staggered ? 1 + 0.9 * (1 - static_cast<double>(i) / last) : 1;
    const double size = wider * (count <= few_points ? 1.0 : count <= some_points ? 0.6 : 0.3);
    const std::string& color = series_color(theme, i);
    if (data.has_intervals && count <= some_points) {
      curves += fmt::format(
          "$s{} using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1.6 lc rgb '{}' notitle, ", i, color);
    }
    const std::string label =
        series.label.empty() ? "measured" : shortened(series.label, key_label_limit);
    curves += fmt::format("$s{} using 1:2 with {} lw {} pt {} ps {} lc rgb '{}' {}{}", i,
                          series.connected ? "linespoints" : "points",
                          wider * (count <= some_points ? 2.2 : 1.2), point_type(i), size, color,
                          i < titled ? "title " + quoted(label) : "notitle",
                          i + 1 == data.series.size() ? "" : ", ");
  }
  return curves;
}

}  // namespace

bool turned_labels(const std::vector<std::string>& categories) {
  const std::size_t longest = longest_of(categories);
  const double room = 660.0 / static_cast<double>(std::max<std::size_t>(categories.size(), 1));
  return static_cast<double>(longest + 1) * character_width > room;
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

std::string script_of(const PlotData& data, const Theme& theme, Source source) {
  const std::vector<std::string> x_label = wrapped(data.x_label, 66, 2);
  const Layout layout = layout_of(data, title_lines(data.title, source).size(), x_label.size());
  std::string script = preamble(theme, layout.height, data.title, source);
  if (source == Source::replay) script += watermark(theme, "graph 0.5, graph 0.5", 120, 20);
  script += layout_script(data, theme, layout, x_label);
  script += axes_script(data, theme) + bound_label(data, theme) +
            levels_script(data, theme) + marks_script(data, theme) +
            data_blocks(data) + stretches_block(data);
  const std::string references = reference_curves(data, theme);
  script += "plot " + references + (references.empty() ? "" : ", ") +
            series_curves(data, theme, layout.keyed ? layout.named : 0);
  if (layout.keyed && layout.named < data.series.size()) {
    script += fmt::format(", NaN with lines lc rgb '{}' title {}", theme.background,
                          quoted(fmt::format("and {} more", data.series.size() - layout.named)));
  }
  if (!data.stretches.empty()) script += ", " + stretches_curve(data, theme);
  for (const std::string& name : reference_names(data)) {
    const bool expected = data.has_expected && name == reference_names(data).front();
    script += fmt::format(", NaN with lines lw {} dt {} lc rgb '{}' title {}",
                          expected ? "5.5" : "2", expected ? "(1.2,1.6)" : "(10,6)",
                          expected ? theme.frame : theme.text, quoted(name));
  }
  return script + "\n";
}

}  // namespace fathom::plots
