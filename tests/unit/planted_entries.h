#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"

namespace fathom::planted {

/// An entry as a probe would have measured it, for tests of what a probe concludes.
inline Entry entry(std::string name, Axes axes, double value, Better better = Better::higher) {
  Entry e;
  e.name = std::move(name);
  e.axes = std::move(axes);
  e.metric.value = value;
  e.metric.better = better;
  e.samples = {value};
  return e;
}

inline void add_counter(Entry& entry, const std::string& role, double value, double expected) {
  Counter counter;
  counter.role = role;
  counter.value = value;
  counter.expected = expected;
  entry.counters.push_back(std::move(counter));
}

inline const Claim& claim(const std::vector<Claim>& claims, const std::string& id) {
  for (const Claim& c : claims) {
    if (c.id == id) return c;
  }
  throw std::out_of_range("no claim " + id);
}

}  // namespace fathom::planted
