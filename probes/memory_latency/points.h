#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "results/facts.h"
#include "results/query.h"

// Entries of a sweep by the place on one of its axes.

namespace fathom::memory_latency {

struct MeasuredPoint {
  double latency;
  const Entry* entry;
};
using Points = std::map<std::int64_t, MeasuredPoint>;

/// Of those that `filter` selects and that have a value, by the whole number on `axis`.
inline Points points_by(std::span<const Entry> entries, const AxisFilter& filter,
                        const std::string& axis) {
  Points result;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* value = find_axis(*entry, axis);
    if (!entry->metric.value || value == nullptr) continue;
    result.insert({std::get<std::int64_t>(*value), MeasuredPoint{*entry->metric.value, entry}});
  }
  return result;
}

inline void add_evidence(Fact& fact, const Points& points) {
  for (const auto& [x, point] : points) {
    fact.evidence.push_back(point.entry->name);
    fact.repeats += static_cast<int>(point.entry->samples.size());
  }
}

}  // namespace fathom::memory_latency
