#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/plot_figure.h"
#include "reports/plot_heat_map.h"
#include "reports/plot_text.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::plots {
namespace {

/// More would be narrower than a pixel of the picture, and add nothing but bytes to it.
constexpr std::size_t most_columns = 512;

/// This share of the figures at either end may lie beyond the palette, if that leaves the rest
/// more than `stretch` times the colours: one late load in a hundred thousand must not flatten
/// them.
constexpr double outlying = 0.005, stretch = 1.5;

constexpr std::size_t row_label_limit = 14;

/// One figure and where it goes.
struct Item {
  AxisValue row, column;
  double value;
};

const std::string profile = "profile";

struct Items {
  std::vector<Item> all;
  std::string name, unit;
  std::string axis;  ///< of the profiles
};

/// All items have the first one's unit: one palette has one.
Items items_of(const View& view, std::span<const Entry> entries) {
  Items items;
  const auto add = [&](const Entry& entry, const std::string& name, const std::string& unit,
                       const AxisValue& column, double value) {
    if (items.all.empty()) {
      items.name = name;
      items.unit = unit;
    }
    if (unit == items.unit) items.all.push_back({*find_axis(entry, view.y_axis), column, value});
  };
  for (const Entry& entry : entries) {
    if (!has_place(find_axis(entry, view.y_axis)) || !matches(entry, view)) continue;
    if (view.x != profile) {
      const AxisValue* column = find_axis(entry, view.x);
      const auto figure = figure_of(entry, view.y);
      if (has_place(column) && figure)
        add(entry, figure->name, figure->unit, *column, figure->value);
    } else if (entry.profile) {
      items.axis = entry.profile->axis;
      for (std::size_t i = 0; i < entry.profile->values.size(); ++i) {
        const auto value = drawable(entry.profile->values[i]);
        if (value) add(entry, "", entry.profile->unit, static_cast<std::int64_t>(i), *value);
      }
    }
  }
  return items;
}

/// The different values in the order in which they come; quantities of the columns by their size.
class Places {
 public:
  void add(const AxisValue& value) {
    if (place_of(value) == values_.size()) values_.push_back(value);
  }
  void sort_quantities() {
    const bool quantities = std::all_of(values_.begin(), values_.end(), [](const AxisValue& value) {
      return number_of(value).has_value();
    });
    if (!quantities) return;
    std::sort(values_.begin(), values_.end(),
              [](const AxisValue& a, const AxisValue& b) { return *number_of(a) < *number_of(b); });
  }
  std::size_t place_of(const AxisValue& value) const {
    return static_cast<std::size_t>(std::find(values_.begin(), values_.end(), value) -
                                    values_.begin());
  }
  const std::vector<AxisValue>& values() const { return values_; }

 private:
  std::vector<AxisValue> values_;
};

Places rows_of(const View& view, const std::vector<Item>& items) {
  Places there;
  for (const Item& item : items) {
    // Items of one entry follow each other.
    if (there.values().empty() || there.values().back() != item.row) there.add(item.row);
  }
  Places ordered;
  for (const AxisValue& row : view.row_order) {
    if (there.place_of(row) < there.values().size()) ordered.add(row);
  }
  for (const AxisValue& row : there.values()) ordered.add(row);
  return ordered;
}

/// Figures in their cells; where several fall on one, their mean.
void fill(const View& view, const Items& items, const Places& rows, const Places& columns,
          std::size_t column_count, HeatMap& map) {
  map.binned = (column_count + most_columns - 1) / most_columns;
  const std::size_t width = (column_count + map.binned - 1) / map.binned;
  map.cells.assign(rows.values().size(), std::vector<double>(width, 0));
  std::vector<std::vector<int>> counts(rows.values().size(), std::vector<int>(width, 0));
  std::size_t row = 0;
  for (const Item& item : items.all) {
    if (rows.values()[row] != item.row) row = rows.place_of(item.row);
    const std::size_t column = view.x == profile
                                   ? static_cast<std::size_t>(std::get<std::int64_t>(item.column))
                                   : columns.place_of(item.column);
    map.cells[row][column / map.binned] += item.value;
    ++counts[row][column / map.binned];
  }
  for (std::size_t r = 0; r < map.cells.size(); ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      map.cells[r][c] = counts[r][c] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : map.cells[r][c] / counts[r][c];
      map.filled += counts[r][c] > 0;
    }
  }
}

/// Ends of the palette: all figures, but for outliers that would take most colours.
std::pair<double, double> palette_ends(const HeatMap& map) {
  std::vector<double> values;
  for (const auto& row : map.cells) {
    std::copy_if(row.begin(), row.end(), std::back_inserter(values),
                 [](double value) { return std::isfinite(value); });
  }
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(outlying * static_cast<double>(values.size() - 1));
  const double low = values[rank], high = values[values.size() - 1 - rank];
  const double all = values.back() - values.front();
  if (high > low && all > stretch * (high - low)) return {low, high};
  return {values.front(), values.back()};
}

/// Colours of one value only need two ends all the same.
Scale colour_scale(double low, double high, bool logarithmic, const std::string& unit) {
  const bool one = !(high > low);
  const double room = !one ? 0 : low == 0 ? 1 : std::abs(low) * 0.01;
  Scale scale = logarithmic ? log10_scale(low, high, unit)
                            : linear_scale(low - room, high + room, false, false, 5);
  scale.low = low - room;
  scale.high = high + room;
  std::erase_if(scale.ticks, [&](const auto& tick) {
    return tick.first < scale.low || tick.first > scale.high;
  });
  return scale;
}

Ticks ticks_of_places(const std::string& axis, const std::string& label,
                      const std::vector<AxisValue>& values, std::size_t binned) {
  Ticks ticks;
  for (std::size_t i = 0; i < values.size(); i += binned) {
    ticks.emplace_back(static_cast<double>(i / binned),
                       shortened(category_text(axis, label, values[i]), row_label_limit));
  }
  return ticks;
}

Ticks ticks_of_profile(std::size_t count, std::size_t binned) {
  Ticks ticks;
  for (const auto& [at, text] :
       linear_scale(0, static_cast<double>(count - 1), false, false, 8).ticks) {
    if (at > static_cast<double>(count - 1) || at != std::floor(at)) continue;
    ticks.emplace_back((at + 0.5) / static_cast<double>(binned) - 0.5, text);
  }
  return ticks;
}

}  // namespace

std::string HeatMap::note() const {
  std::string text;
  if (binned > 1) {
    text = fmt::format("Each column of the picture is the mean of {} neighbours.", binned);
  }
  if (beyond > 0) {
    text += fmt::format(
        "{}The colours reach from {} to {}; {} of {} figures lie beyond and have the colour of "
        "that "
        "end, the lowest {}, the highest {}.",
        text.empty() ? "" : " ", colour_low, colour_high, format_count(static_cast<double>(beyond)),
        format_count(static_cast<double>(filled)), lowest, highest);
  }
  return text;
}

std::optional<HeatMap> collect_heat_map(const View& view, std::span<const Entry> entries) {
  const Items items = items_of(view, entries);
  if (items.all.empty()) return std::nullopt;
  const bool of_profile = view.x == profile;
  const Places rows = rows_of(view, items.all);
  Places columns;
  std::size_t column_count = 0;
  for (const Item& item : items.all) {
    if (of_profile) {
      column_count =
          std::max(column_count, static_cast<std::size_t>(std::get<std::int64_t>(item.column)) + 1);
    } else {
      columns.add(item.column);
    }
  }
  columns.sort_quantities();
  if (!of_profile) column_count = columns.values().size();

  HeatMap map;
  fill(view, items, rows, columns, column_count, map);
  const auto [low, high] = palette_ends(map);
  double lowest = largest_figure, highest = -largest_figure;
  for (const auto& row : map.cells) {
    for (const double value : row) {
      if (!std::isfinite(value)) continue;
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
      map.beyond += value < low || value > high;
    }
  }
  map.lowest = clean(format_quantity(lowest, items.unit));
  map.highest = clean(format_quantity(highest, items.unit));
  map.colour_low = clean(format_quantity(low, items.unit));
  map.colour_high = clean(format_quantity(high, items.unit));

  const bool logarithmic = view.y_log && lowest > 0;
  const PrefixedUnit shown =
      logarithmic ? PrefixedUnit{1, ""}
                  : prefixed_unit(std::max(std::abs(low), std::abs(high)), items.unit);
  for (auto& row : map.cells) {
    for (double& value : row) value /= shown.factor;
  }
  map.colours = colour_scale(low / shown.factor, high / shown.factor, logarithmic, items.unit);
  map.title = clean(view.title);
  map.x_label = clean(!view.x_label.empty() ? view.x_label : of_profile ? items.axis : view.x);
  map.y_label = clean(view.y_axis);
  map.colour_label =
      label_with_unit(figure_label(view.y_label, items.name), items.unit, clean(shown.text));
  map.rows = ticks_of_places(view.y_axis, "", rows.values(), 1);
  map.columns = of_profile ? ticks_of_profile(column_count, map.binned)
                           : ticks_of_places(view.x, view.x_label, columns.values(), map.binned);
  return map;
}

}  // namespace fathom::plots
