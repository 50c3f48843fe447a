#include "probes/memory_bandwidth/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "probes/memory_bandwidth/entry_facts.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::memory_bandwidth {
namespace {

struct Saturation {
  const char* id;
  const char* level;  ///< axis
  const char* quantity;
  const char* unit;
  const char* sweep;
  const char* axis;
  double share;  ///< of the best that counts as saturated
};

constexpr Saturation saturations[] = {
    {"l2.saturating_sms", "L2", "SMs that saturate it", "SMs", "SMs", "SMs", 0.98},
    {"dram.saturating_sms", "DRAM", "SMs that saturate it", "SMs", "SMs", "SMs", 0.98},
    {"l2.bytes_in_flight", "L2", "bytes in flight for 95 % of the best", "B", "in flight",
     "bytes in flight (B)", 0.95},
    {"dram.bytes_in_flight", "DRAM", "bytes in flight for 95 % of the best", "B", "in flight",
     "bytes in flight (B)", 0.95},
};

/// The best entry at each place of the axis: several shapes of grid have as many bytes in flight.
std::map<double, const Entry*> best_by(std::span<const Entry> entries, const Saturation& s) {
  std::map<double, const Entry*> result;
  for (const Entry* entry : select(entries, {{"sweep", s.sweep}, {"level", s.level}})) {
    const AxisValue* value = find_axis(*entry, s.axis);
    const auto* x = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    if (x == nullptr || !entry->metric.value) continue;
    const Entry*& known = result[static_cast<double>(*x)];
    if (known == nullptr || *entry->metric.value > *known->metric.value) known = entry;
  }
  return result;
}

/// Little's law from the sweep itself: the time of a load where least is in flight, times the best
/// bandwidth. "; Little's law from the least loaded point: 520 ns x 4.6 TB/s = 2.3 MiB".
std::string little(const std::map<double, const Entry*>& points, double best) {
  const auto& [bytes, entry] = *points.begin();
  const double latency = bytes / *entry->metric.value;
  return fmt::format("; Little's law from the least loaded point: {} x {} = {}",
                     format_time(latency), format_bandwidth(best), format_bytes(latency * best));
}

Fact saturation_fact(std::span<const Entry> entries, const Saturation& s) {
  const FactName name{s.id, s.level, s.quantity, s.unit, Better::lower};
  const std::map<double, const Entry*> points = best_by(entries, s);
  constexpr std::size_t fewest = 4;
  if (points.size() < fewest) return missing_fact(name, left_out);
  double best = 0;
  for (const auto& [x, entry] : points) best = std::max(best, *entry->metric.value);
  const auto enough = std::ranges::find_if(
      points, [&](const auto& point) { return *point.second->metric.value >= s.share * best; });
  if (enough == points.begin()) {
    return missing_fact(name, fmt::format("the least that was measured, {}, is enough already",
                                          format_quantity(points.begin()->first, s.unit)));
  }
  Fact fact = named_fact(name);
  fact.value = enough->first;
  fact.interval = Interval{std::prev(enough)->first, enough->first, 1,
                           "between neighbouring points of the sweep"};
  fact.method = fmt::format("fewest of {} with {} of the best bandwidth, {}", points.size(),
                            format_percent(s.share), format_bandwidth(best));
  if (std::string(s.unit) == "B") fact.method += little(points, best);
  fact.repeats = static_cast<int>(enough->second->samples.size());
  fact.evidence = {std::prev(enough)->second->name, enough->second->name};
  return fact;
}

}  // namespace

std::vector<Fact> saturation_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const Saturation& s : saturations) facts.push_back(saturation_fact(entries, s));
  return facts;
}

}  // namespace fathom::memory_bandwidth
