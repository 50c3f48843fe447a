#include "results/query.h"

#include <algorithm>
#include <cmath>

namespace fathom {

const AxisValue* find_axis(const Entry& entry, const std::string& name) {
  for (const auto& [axis, value] : entry.axes)
    if (axis == name) return &value;
  return nullptr;
}

double number_of(const AxisValue* value) {
  if (value == nullptr) return std::nan("");
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(value);
  return real == nullptr ? std::nan("") : *real;
}

bool matches(const Entry& entry, const AxisFilter& filter) {
  return std::ranges::all_of(filter, [&](const auto& wanted) {
    const AxisValue* value = find_axis(entry, wanted.first);
    return value != nullptr && *value == wanted.second;
  });
}

bool matches(const Entry& entry, const View& view) {
  return std::ranges::all_of(view.where, [&](const auto& wanted) {
    const AxisValue* value = find_axis(entry, wanted.first);
    return value != nullptr && std::ranges::count(wanted.second, *value) > 0;
  });
}

std::vector<const Entry*> select(std::span<const Entry> entries, const AxisFilter& filter) {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries)
    if (matches(entry, filter)) found.push_back(&entry);
  return found;
}

const Entry* find_measured(std::span<const Entry> entries, const AxisFilter& filter) {
  for (const Entry& entry : entries)
    if (entry.metric.value && matches(entry, filter)) return &entry;
  return nullptr;
}

const Entry* best(const std::vector<const Entry*>& entries) {
  const auto rank = [](const Entry* entry) {
    return entry->metric.better == Better::higher ? *entry->metric.value : -*entry->metric.value;
  };
  const Entry* found = nullptr;
  for (const Entry* entry : entries)
    if (entry->metric.value && (found == nullptr || rank(entry) > rank(found))) found = entry;
  return found;
}

std::vector<CurvePoint> curve_of(const std::vector<const Entry*>& entries,
                                 const std::string& axis) {
  std::vector<CurvePoint> curve;
  for (const Entry* entry : entries)
    if (const double x = number_of(find_axis(*entry, axis));
        !std::isnan(x) && entry->metric.value && !entry->samples.empty())
      curve.push_back({x, entry->samples});
  std::ranges::stable_sort(curve, {}, &CurvePoint::x);
  return curve;
}

const Opponent* fastest_opponent(const Entry& entry) {
  const Opponent* fastest = nullptr;
  for (const Opponent& opponent : entry.opponents)
    if (opponent.value && (fastest == nullptr || *opponent.value > *fastest->value))
      fastest = &opponent;
  return fastest;
}

const Counter* find_counter(const Entry& entry, const std::string& role) {
  const auto found = std::ranges::find(entry.counters, role, &Counter::role);
  return found == entry.counters.end() ? nullptr : &*found;
}

std::optional<double> counter_value(const Entry& entry, const std::string& role) {
  const Counter* counter = find_counter(entry, role);
  return counter == nullptr ? std::nullopt : counter->value;
}

std::optional<double> sm_clock_of(const Entry& entry) {
  return entry.timing.sm_clock_hz ? entry.timing.sm_clock_hz : entry.telemetry.sm_clock_hz.median;
}

}  // namespace fathom
