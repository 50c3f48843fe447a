#include "reports/plot_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/plot_data_marks.h"
#include "reports/plot_figure.h"
#include "reports/plot_text.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::plots {
namespace {

struct Row {
  const Entry* entry;
  const AxisValue* x;
  Figure figure;
};

std::vector<Row> rows_of(const View& view, std::span<const Entry> entries) {
  std::vector<Row> rows;
  for (const Entry& entry : entries) {
    const AxisValue* x = find_axis(entry, view.x);
    if (!has_place(x) || !matches(entry, view)) continue;
    const auto figure = figure_of(entry, view.y);
    // One axis has one unit: the first entry's.
    if (!figure || (!rows.empty() && figure->unit != rows.front().figure.unit)) continue;
    rows.push_back({&entry, x, *figure});
  }
  return rows;
}

std::string series_label(const View& view, const Entry& entry) {
  std::string label;
  for (const std::string& axis : view.series) {
    const AxisValue* value = find_axis(entry, axis);
    label += (label.empty() ? "" : ", ") + (value == nullptr ? "-" : value_text(axis, *value));
  }
  return label;
}

std::string key_title(const View& view) {
  std::string title;
  for (const std::string& axis : view.series) title += (title.empty() ? "" : ", ") + clean(axis);
  return title;
}

/// Fills `categories` if x cannot be drawn as a quantity.
void choose_categories(const View& view, const std::vector<Row>& rows, PlotData& data) {
  double lowest = largest_figure;
  for (const Row& row : rows) {
    const auto number = number_of(*row.x);
    if (!number)
      data.words = true;
    else
      lowest = std::min(lowest, *number);
  }
  if (!data.words && !(view.x_log2 && lowest <= 0)) return;
  std::vector<AxisValue> values;
  for (const Row& row : rows) {
    if (std::find(values.begin(), values.end(), *row.x) == values.end()) values.push_back(*row.x);
  }
  if (!data.words) {
    std::sort(values.begin(), values.end(),
              [](const AxisValue& a, const AxisValue& b) { return *number_of(a) < *number_of(b); });
  }
  for (const AxisValue& value : values)
    data.categories.push_back(category_text(view.x, view.x_label, value));
}

/// The place of an entry on x, before series stand side by side.
double place(const View& view, const Row& row, const std::vector<std::string>& categories) {
  if (categories.empty()) return *number_of(*row.x);
  const std::string text = category_text(view.x, view.x_label, *row.x);
  return static_cast<double>(std::find(categories.begin(), categories.end(), text) -
                             categories.begin());
}

/// The opponent's figure where the view shows what it has one of.
std::optional<double> figure_of_opponent(const Row& row, const Opponent& opponent) {
  if (!opponent.value || !row.figure.of_metric) return std::nullopt;
  return drawable(*opponent.value * *row.figure.of_metric);
}

/// A line for each opponent beside each series.
void add_opponents(const View& view, const std::vector<Row>& rows, double factor, bool logarithmic,
                   std::map<std::string, std::size_t>& known, PlotData& data) {
  // A name in common says nothing of its own where there is one series of entries.
  const bool apart = known.size() > 1;
  for (const Row& row : rows) {
    for (const Opponent& opponent : row.entry->opponents) {
      const auto value = figure_of_opponent(row, opponent);
      if (!value || (logarithmic && *value <= 0)) continue;
      const std::string own = apart ? series_label(view, *row.entry) : "";
      const std::string label = own.empty() ? opponent.name : opponent.name + " beside " + own;
      const auto [at, is_new] = known.try_emplace(label, data.series.size());
      if (is_new) data.series.push_back({label, {}, true});
      Point point{place(view, row, data.categories),
                  *value / factor,
                  {},
                  {},
                  {},
                  {},
                  clean(format_quantity(*value, row.figure.unit))};
      // What physics allows, it allows nobody.
      if (view.show_bound && row.figure.bound) point.bound = *row.figure.bound / factor;
      data.series[at->second].points.push_back(std::move(point));
    }
  }
}

void make_series(const View& view, const std::vector<Row>& rows, double factor, bool logarithmic,
                 PlotData& data) {
  std::map<std::string, std::size_t> known;
  const auto scaled = [&](const std::optional<double>& value) {
    const bool shown = value && (!logarithmic || *value > 0);
    return shown ? std::optional(*value / factor) : std::nullopt;
  };
  for (const Row& row : rows) {
    const std::string label = series_label(view, *row.entry);
    const auto [at, is_new] = known.try_emplace(label, data.series.size());
    if (is_new) data.series.push_back({label, {}, true});
    const Figure& f = row.figure;
    Point point{place(view, row, data.categories),
                f.value / factor,
                scaled(f.low),
                scaled(f.high),
                std::nullopt,
                std::nullopt,
                clean(format_quantity(f.value, f.unit))};
    if (view.show_bound) point.bound = scaled(f.bound);
    if (view.show_expected) point.expected = scaled(f.expected);
    data.series[at->second].points.push_back(point);
  }
  if (view.show_opponents) add_opponents(view, rows, factor, logarithmic, known, data);
  for (Series& series : data.series) {
    const auto by_x = [](const Point& a, const Point& b) { return a.x < b.x; };
    std::stable_sort(series.points.begin(), series.points.end(), by_x);
    const auto same_x = [](const Point& a, const Point& b) { return a.x == b.x; };
    const bool repeated = std::adjacent_find(series.points.begin(), series.points.end(), same_x) !=
                          series.points.end();
    series.connected = !repeated && !data.words;
  }
}

/// Words have no order to join points in: where several have a point, they stand side by side.
void stand_apart(PlotData& data) {
  if (!data.words || data.series.size() < 2) return;
  std::set<double> taken;
  bool shared = false;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) shared = !taken.insert(point.x).second || shared;
  }
  if (!shared) return;
  const auto count = static_cast<double>(data.series.size());
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const double shift = 0.6 * ((static_cast<double>(i) + 0.5) / count - 0.5);
    for (Point& point : data.series[i].points) point.x += shift;
  }
}

struct Extent {
  double low = largest_figure, high = -largest_figure;
  void include(const std::optional<double>& value) {
    if (!value) return;
    low = std::min(low, *value);
    high = std::max(high, *value);
  }
};

void scale_x(const View& view, PlotData& data) {
  if (!data.categories.empty()) {
    data.x.low = -0.5;
    data.x.high = static_cast<double>(data.categories.size()) - 0.5;
    return;
  }
  Extent extent;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) extent.include(point.x);
  }
  const bool bytes = in_bytes(view.x, view.x_label);
  if (extent.low == extent.high && !view.x_log2) {
    data.x = linear_scale(extent.low, extent.high, false, false, 2);
    data.x.ticks = {{extent.low, bytes ? format_bytes(extent.low) : format_number(extent.low)}};
    return;
  }
  data.x = view.x_log2
               ? log2_scale(extent.low, extent.high, bytes, 9)
               : linear_scale(extent.low, extent.high, false, bytes && extent.high >= 4096, 8);
  if (view.x_log2) return;
  // Points on the frame are hard to see.
  const double margin = 0.02 * (data.x.high - data.x.low);
  if (extent.low - data.x.low < margin / 2) data.x.low -= margin;
  if (data.x.high - extent.high < margin / 2) data.x.high += margin;
}

/// One bound for all points, or each its own.
void find_bound(const std::string& unit, double factor, PlotData& data) {
  Extent bounds;
  std::size_t with = 0, points = 0;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) {
      bounds.include(point.bound);
      with += point.bound ? 1 : 0;
      ++points;
    }
  }
  if (with == 0) return;
  const bool same = bounds.high - bounds.low <= 1e-9 * std::abs(bounds.high);
  data.bounds_differ = !same || with != points;
  if (data.bounds_differ) return;
  data.bound = bounds.low;
  data.bound_text = "bound " + format_quantity(bounds.low * factor, unit);
}

void scale_y(const View& view, const std::string& unit, bool logarithmic, PlotData& data) {
  Extent figures, all;
  for (const Series& series : data.series) {
    for (const Point& point : series.points) {
      for (const auto& value : {std::optional(point.y), point.low, point.high, point.expected}) {
        figures.include(value);
      }
      all.include(point.bound);
      data.has_expected = data.has_expected || point.expected.has_value();
      data.has_intervals = data.has_intervals || point.low.has_value();
    }
  }
  for (const Mark& stretch : data.stretches) {
    figures.include(stretch.first_y);
    figures.include(stretch.last_y);
  }
  for (const Level& level : data.levels) all.include(level.y);
  all.include(figures.low);
  all.include(figures.high);
  // Labels of marks need room above the points.
  const bool marked = !data.markers.empty() || !data.stretches.empty();
  if (logarithmic) {
    if (marked) all.high *= std::pow(all.high / all.low, 0.25);
    data.y = log10_scale(all.low, all.high, unit);
    return;
  }
  if (all.high > bound_drawn_up_to * std::max(figures.high, 0.0) && figures.high > 0) {
    data.bound_beyond = data.bound.has_value();
    all.high = data.bound ? figures.high : bound_drawn_up_to * figures.high;
    for (const Level& level : data.levels) all.include(level.y);
  }
  // Without zero asked for, still some room: points on the frame are hard to see.
  const double room = (marked ? 0.12 : 0.04) * (all.high - all.low);
  data.y = linear_scale(view.y_from_zero ? all.low : all.low - room, all.high + room,
                        view.y_from_zero, false, 6);
}

}  // namespace

std::optional<PlotData> collect(const View& view, std::span<const Entry> entries) {
  const std::vector<Row> rows = rows_of(view, entries);
  if (rows.empty()) return std::nullopt;
  PlotData data;
  const std::string unit = rows.front().figure.unit;
  Extent values;
  for (const Row& row : rows) {
    values.include(row.figure.value);
    if (!view.show_opponents) continue;
    for (const Opponent& opponent : row.entry->opponents)
      values.include(figure_of_opponent(row, opponent));
  }
  const bool logarithmic = view.y_log && values.low > 0;
  // The ticks of a logarithmic axis carry their own prefixes.
  const PrefixedUnit shown =
      logarithmic ? PrefixedUnit{1, ""}
                  : prefixed_unit(std::max(std::abs(values.low), std::abs(values.high)), unit);
  choose_categories(view, rows, data);
  make_series(view, rows, shown.factor, logarithmic, data);
  stand_apart(data);
  make_marks(view, shown.factor, logarithmic, data);
  make_levels(view, unit, shown.factor, logarithmic, data);
  scale_x(view, data);
  find_bound(unit, shown.factor, data);
  scale_y(view, unit, logarithmic, data);

  data.title = clean(view.title);
  data.x_label = clean(view.x_label.empty() ? view.x : view.x_label);
  data.y_label = label_with_unit(figure_label(view.y_label, rows.front().figure.name), unit,
                                 clean(shown.text));
  data.key_title = view.show_opponents ? "" : key_title(view);
  data.bound_text = clean(data.bound_text);
  data.lowest = clean(format_quantity(values.low, unit));
  data.highest = clean(format_quantity(values.high, unit));
  return data;
}

}  // namespace fathom::plots
