#include "reports/plot_figure.h"

#include <algorithm>
#include <cmath>

#include "reports/plot_axis.h"
#include "reports/plot_text.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::plots {
namespace {

std::optional<Figure> figure_of_metric(const Entry& entry) {
  const auto value = drawable(entry.metric.value);
  if (!value) return std::nullopt;
  Figure figure{entry.metric.name, entry.metric.unit, *value, {}, {}, {}, {}, {}};
  if (entry.interval) {
    figure.low = drawable(entry.interval->low);
    figure.high = drawable(entry.interval->high);
  }
  if (entry.bound) figure.bound = drawable(entry.bound->value);
  if (entry.expected) figure.expected = drawable(entry.expected->value);
  figure.of_metric = 1;
  return figure;
}

/// A rate by the SM clock that was measured, which its bound has at a clock of its own.
std::optional<Figure> figure_per_cycle(const Entry& entry) {
  constexpr std::string_view per_second = "/s";
  const auto clock = sm_clock_of(entry);
  if (!clock || !(*clock > 0) || !entry.metric.unit.ends_with(per_second)) return std::nullopt;
  auto figure = figure_of_metric(entry);
  if (!figure) return std::nullopt;
  const double cycle = 1 / *clock;
  figure->name += "_per_cycle";
  figure->unit.replace(figure->unit.size() - per_second.size(), per_second.size(), "/cycle");
  figure->value *= cycle;
  // The interval is of time: of the cycles, which have a clock for each sample, none is known.
  figure->low = figure->high = figure->expected = figure->bound = std::nullopt;
  if (entry.bound && entry.bound->clock_hz.value_or(0) > 0)
    figure->bound = drawable(entry.bound->value / *entry.bound->clock_hz);
  figure->of_metric = cycle;
  return figure;
}

}  // namespace

std::optional<double> drawable(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value) || std::abs(*value) > largest_figure) return std::nullopt;
  return std::abs(*value) < smallest_figure ? 0 : *value;
}

std::optional<Figure> figure_of(const Entry& entry, const std::string& y) {
  if (y == "metric") return figure_of_metric(entry);
  if (y == "metric_per_cycle") return figure_per_cycle(entry);
  const bool any = !y.starts_with("counter:") && !y.starts_with("extra:");
  const std::string name = any ? y : y.substr(y.find(':') + 1);
  if (any || y.starts_with("counter:")) {
    if (const Counter* counter = find_counter(entry, name)) {
      const auto value = drawable(counter->value);
      if (!value) return std::nullopt;
      return Figure{name, counter->unit, *value, {}, {}, {}, drawable(counter->expected), {}};
    }
  }
  const auto extra = entry.extras.find(name);
  if (extra == entry.extras.end() || y.starts_with("counter:")) return std::nullopt;
  const auto value = drawable(extra->second);
  if (!value) return std::nullopt;
  return Figure{name, "", *value, {}, {}, {}, {}, {}};
}

std::optional<double> number_of(const AxisValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return drawable(*real);
  return std::nullopt;
}

bool has_place(const AxisValue* value) {
  return value != nullptr &&
         (std::holds_alternative<std::string>(*value) || number_of(*value).has_value());
}

std::string value_text(const std::string& axis, const AxisValue& value) {
  const auto number = number_of(value);
  const bool whole = std::holds_alternative<std::int64_t>(value);
  if (number && whole && in_bytes(axis, "")) return format_bytes(*number);
  return clean(format_axis_value(value));
}

std::string category_text(const std::string& axis, const std::string& label,
                          const AxisValue& value) {
  const auto number = number_of(value);
  return number && in_bytes(axis, label) ? format_bytes(*number) : clean(format_axis_value(value));
}

std::string figure_label(const std::string& label, const std::string& name) {
  if (!label.empty()) return clean(label);
  std::string spaced = clean(name);
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  return spaced;
}

}  // namespace fathom::plots
