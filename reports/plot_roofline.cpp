#include "reports/plot_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/plot_figure.h"
#include "reports/plot_text.h"
#include "reports/roofline.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::plots {
namespace {

// In pixels.
constexpr int left = 104, name_height = 21, foot_height = 14, key_row_height = 29,
              label_height = 28, tick_height = 40, least_frame = 340, level_height = 22;
constexpr int small_font = 14;
constexpr double small_character = character_width / font_size * small_font;
constexpr std::size_t name_limit = 26;
/// From the frame to the names: room for the lines that lead there.
constexpr int lead = 46;

/// Names from the lowest up, as near to their kernels' heights as a line's height between them allows: without
/// these, what is left must not fall, and neighbours that would are drawn together to their mean (pool adjacent
/// violators).
std::vector<double> name_heights(const RooflineData& data, double frame) {
  struct Pool {
    double sum = 0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < data.kernels.size(); ++i) {
    const double own = fraction(data.y, data.kernels[i].y) * frame;
    pools.push_back({own - name_height * static_cast<double>(i), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  const double room = frame - name_height * static_cast<double>(data.kernels.size() - 1);
  std::vector<double> at;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) {
      at.push_back(std::clamp(pool.mean(), 0.0, std::max(room, 0.0)) + name_height * static_cast<double>(at.size()));
    }
  }
  return at;
}

/// A line from the foot of the frame or its left side to the arithmetic peak, or to the frame's right side.
std::string roof_block(const RooflineData& data, std::size_t index) {
  const double bandwidth = *data.memory[index].roof;
  const double peak = data.levels.empty() ? data.y.high : data.levels.back().y;
  const double from = std::max(data.x.low, data.y.low / bandwidth);
  const double to = std::min(data.x.high, peak / bandwidth);
  if (!(from < to)) return fmt::format("$roof{} << END\nNaN NaN\nEND\n", index);
  return fmt::format("$roof{} << END\n{} {}\n{} {}\nEND\n", index, from, from * bandwidth, to, to * bandwidth);
}

/// Lines across, and their names above the highest, where no kernel is. The highest line's name is
/// nearest to it; from each other's a lead goes down to its own line, left of the names below.
std::string levels_script(const RooflineData& data, const Theme& theme, double bottom, double frame,
                          double height) {
  constexpr double edge = 0.015, indent = 0.03;  // of the frame's width
  std::string script;
  const std::size_t count = data.levels.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Level& level = data.levels[i];
    const double x = edge + indent * static_cast<double>(i);
    const double y = (bottom + frame * fraction(data.y, data.levels.back().y) +
                      level_height * (static_cast<double>(count - i) - 0.4)) /
                     height;
    const bool led = i + 1 < count;
    script += fmt::format(
        "set arrow from graph 0, first {0} to graph 1, first {0} nohead lw 2 dt (10,6) lc rgb "
        "'{1}' back\n"
        "set label {2} at graph {3}, screen {4} left textcolor rgb '{1}' front\n",
        level.y, theme.text, quoted(level.label), led ? x + indent / 2 : x, y);
    if (!led) continue;
    script += fmt::format(
        "set arrow from graph {0}, screen {1} to graph {0}, first {2} head filled size screen "
        "0.008,20 lw 1 lc rgb '{3}' back\n",
        x, y, level.y, theme.text);
  }
  return script;
}

std::string places_block(const RooflineData& data, std::size_t index, bool counted) {
  std::string block = fmt::format("${}{} << END\n", counted ? "counted" : "least", index);
  bool any = false;
  for (const RooflineData::Place& place : data.memory[index].places) {
    if (place.counted != counted) continue;
    block += fmt::format("{} {}\n", place.x, place.y);
    any = true;
  }
  return block + (any ? "" : "NaN NaN\n") + "END\n";
}

void find_scales(RooflineData& data) {
  double x_low = largest_figure, x_high = 0, y_low = largest_figure, y_high = 0;
  for (const RooflineData::Memory& memory : data.memory) {
    for (const RooflineData::Place& place : memory.places) {
      x_low = std::min(x_low, place.x);
      x_high = std::max(x_high, place.x);
    }
  }
  for (const RooflineData::Kernel& kernel : data.kernels) {
    y_low = std::min(y_low, kernel.y);
    y_high = std::max(y_high, kernel.y);
  }
  for (const Level& level : data.levels) y_high = std::max(y_high, level.y);
  // A roof's ridge is what a reader looks for.
  for (const RooflineData::Memory& memory : data.memory) {
    if (!memory.roof || data.levels.empty()) continue;
    const double ridge = data.levels.back().y / *memory.roof;
    x_low = std::min(x_low, ridge);
    x_high = std::max(x_high, ridge);
  }
  data.x = log10_scale(x_low / 1.6, x_high * 1.6, "");
  // Room above for each level's name.
  data.y = log10_scale(y_low / 1.3,
                       y_high * std::pow(1.5, std::max<std::size_t>(1, data.levels.size())), "");
}

}  // namespace

std::optional<RooflineData> collect_roofline(const View& view, std::span<const Entry> entries,
                                             std::span<const DeviceBound> bounds) {
  std::vector<const Entry*> shown;
  for (const Entry& entry : entries) {
    if (matches(entry, view)) shown.push_back(&entry);
  }
  const auto rows = reports::roofline_rows(view, shown, bounds);
  double highest = 0;
  for (const reports::RooflineRow& row : rows) highest = std::max(highest, row.flops_per_second);
  const PrefixedUnit unit = prefixed_unit(highest, "FLOP/s");
  RooflineData data;
  for (std::size_t i = 0; i < view.memory.size(); ++i) {
    RooflineData::Memory memory;
    const auto roof = reports::roof_of(view.memory[i], bounds);
    memory.label = clean(view.memory[i].name);
    if (roof) {
      memory.roof = *roof / unit.factor;
      memory.label += ", roof " + format_quantity(*roof, "B/s");
    }
    for (const reports::RooflineRow& row : rows) {
      if (!row.levels[i]) continue;
      memory.places.push_back(
          {row.levels[i]->intensity, row.flops_per_second / unit.factor, row.levels[i]->counted});
      data.has_uncounted = data.has_uncounted || !row.levels[i]->counted;
    }
    if (!memory.places.empty()) data.memory.push_back(std::move(memory));
  }
  if (data.memory.empty()) return std::nullopt;
  for (const reports::RooflineRow& row : rows) {
    RooflineData::Kernel kernel{clean(row.name), row.flops_per_second / unit.factor, largest_figure,
                                0};
    for (const auto& use : row.levels) {
      if (!use) continue;
      kernel.first_x = std::min(kernel.first_x, use->intensity);
      kernel.last_x = std::max(kernel.last_x, use->intensity);
    }
    if (kernel.last_x > 0) data.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(data.kernels, {}, &RooflineData::Kernel::y);
  for (const PlotLevel& level : view.levels) {
    if (!drawable(level.y) || level.y <= 0) continue;
    data.levels.push_back(
        {level.y / unit.factor, clean(level.label + ": " + format_quantity(level.y, "FLOP/s"))});
  }
  std::ranges::stable_sort(data.levels, {}, &Level::y);
  find_scales(data);
  data.title = clean(view.title);
  data.y_label = label_with_unit(figure_label(view.y_label, "throughput"), "FLOP/s", unit.text);
  return data;
}

std::string roofline_script(const RooflineData& data, const Theme& theme, Source source) {
  std::size_t longest = 0;
  for (const RooflineData::Kernel& kernel : data.kernels) {
    longest = std::max(longest, std::min(length(kernel.name), name_limit));
  }
  const double right = picture_width - static_cast<double>(longest) * small_character - lead - 28;
  const int frame = std::max(least_frame, name_height * (static_cast<int>(data.kernels.size()) + 1));
  const int key_rows = static_cast<int>(data.memory.size()) + (data.has_uncounted ? 1 : 0);
  const int x_label = foot_height + key_rows * key_row_height + label_height / 2;
  const int bottom = x_label + label_height / 2 + tick_height;
  const int top = bottom + frame;
  const int height = top + 34 + static_cast<int>(title_lines(data.title, source).size()) * title_line_height;
  const auto up = [&](double pixels) { return pixels / height; };

  std::string script = preamble(theme, height, data.title, source);
  if (source == Source::replay) script += watermark(theme, "graph 0.5, graph 0.5", 90, 20);
  script += fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\nset tmargin at screen {}\n"
      "set label 'FLOP per byte' at graph 0.5, screen {} center textcolor rgb '{}'\n"
      "set ylabel {} textcolor rgb '{}'\nset logscale xy 10\nset xrange [{}:{}] noextend\n"
      "set yrange [{}:{}] noextend\n"
      "set key at screen 0.5, screen {} center bottom vertical Left reverse maxcols 1 samplen 2 spacing 1.15 "
      "textcolor rgb '{}'\n",
      static_cast<double>(left) / picture_width, right / picture_width, up(bottom), up(top), up(x_label), theme.text,
      quoted(shortened(data.y_label, 40)), theme.text, data.x.low, data.x.high, data.y.low, data.y.high,
      up(foot_height), theme.text);
  script += ticks_script("xtics", data.x.ticks) + ticks_script("ytics", data.y.ticks);
  script += levels_script(data, theme, bottom, frame, height);
  const std::vector<double> heights = name_heights(data, frame);
  for (std::size_t i = 0; i < data.kernels.size(); ++i) {
    const RooflineData::Kernel& kernel = data.kernels[i];
    const double y = up(bottom + heights[i]);
    script += fmt::format(
        "set arrow from first {0}, first {1} to graph 1, first {1} nohead lw 0.8 lc rgb '{2}' back\n"
        "set arrow from graph 1, first {1} to screen {3}, screen {4} nohead lw 0.8 lc rgb '{2}' back\n"
        "set label {5} at screen {6}, screen {4} left font 'sans-serif,{7}' textcolor rgb '{8}' front\n",
        kernel.first_x, kernel.y, theme.frame, (right + lead - 6) / picture_width, y,
        quoted(shortened(kernel.name, name_limit)), (right + lead) / picture_width, small_font, theme.text);
  }
  std::string curves;
  for (std::size_t i = 0; i < data.memory.size(); ++i) {
    const std::string& colour = series_color(theme, i);
    script += places_block(data, i, true) + places_block(data, i, false);
    if (data.memory[i].roof) {
      script += roof_block(data, i);
      curves += fmt::format("$roof{} with lines lw 2.4 lc rgb '{}' notitle, ", i, colour);
    }
    curves += fmt::format(
        "$counted{0} with points pt {1} ps 1.2 lc rgb '{2}' title {3}, "
        "$least{0} with points pt {4} ps 1.2 lw 2 lc rgb '{2}' notitle, ",
        i, point_type(i), colour, quoted(data.memory[i].label), point_type(i + 6));
  }
  if (data.has_uncounted) {
    curves += fmt::format("NaN with points pt {} ps 1.2 lw 2 lc rgb '{}' title {}, ", point_type(6), theme.frame,
                          quoted("open: the least that must move, for want of counters"));
  }
  return script + "plot " + curves.substr(0, curves.size() - 2) + "\n";
}

}  // namespace fathom::plots
