#include "probes/memory_latency/conclude_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/facts.h"
#include "results/query.h"

namespace fathom::memory_latency {
namespace {

constexpr const char* not_measured = "its cases were left out of this run or failed";

/// A set of which at least some misses every time takes longer than this times a hit: a miss of the
/// L1 takes six times as long or more.
constexpr double missing_some = 2;

/// The levels' latencies must be this far apart to tell a hit from a miss.
constexpr double told_apart = 1.3;

struct Named {
  double latency;
  const Entry* entry;
};

std::map<std::int64_t, Named> by_axis(std::span<const Entry> entries, const AxisFilter& filter,
                                      const std::string& axis) {
  std::map<std::int64_t, Named> result;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* value = find_axis(*entry, axis);
    if (!entry->metric.value || value == nullptr) continue;
    result.insert({std::get<std::int64_t>(*value), Named{*entry->metric.value, entry}});
  }
  return result;
}

std::optional<double> l1_hit(std::span<const Entry> entries) {
  const Entry* hit = find_measured(entries, {{"sweep", "latency"},
                                             {"level", "L1"},
                                             {"instruction", "ld.global"},
                                             {"method", "unrolled chase"}});
  return hit == nullptr ? std::nullopt : hit->metric.value;
}

/// Takes the entries as evidence.
void add_evidence(Fact& fact, const std::map<std::int64_t, Named>& points) {
  for (const auto& [x, point] : points) {
    fact.evidence.push_back(point.entry->name);
    fact.repeats += static_cast<int>(point.entry->samples.size());
  }
}

Fact l1_line(std::span<const Entry> entries) {
  Fact fact = missing_fact({"l1.line", "L1", "line size"}, "B", Better::higher, not_measured);
  const std::optional<double> hit = l1_hit(entries);
  if (!hit) return fact;
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<std::int64_t, bool> at_least;
  for (const std::int64_t candidate : {64, 128, 256}) {
    const auto points = by_axis(
        entries, {{"sweep", "line"}, {"level", "L1"}, {"candidate (B)", candidate}}, "stride (B)");
    if (!points.contains(candidate) || !points.contains(candidate / 2)) return fact;
    add_evidence(fact, points);
    if (points.at(candidate / 2).latency >= missing_some * *hit) {
      fact.reason =
          fmt::format("elements {} B apart that should fit take {:.0f} cycles, a hit {:.0f}",
                      candidate / 2, points.at(candidate / 2).latency, *hit);
      return fact;
    }
    at_least[candidate] = points.at(candidate).latency >= missing_some * *hit;
  }
  if (!at_least.at(64) || at_least.at(256)) {
    fact.reason = at_least.at(256) ? "lines are 256 B long or longer, the longest tried"
                                   : "lines are shorter than 64 B, the shortest tried";
    return fact;
  }
  fact.value = at_least.at(128) ? 128 : 64;
  fact.reason.clear();
  fact.method = "elements at random in strides of this size overflow the cache, in half of it not";
  return fact;
}

Fact fetched(std::span<const Entry> entries, const char* level, const char* id) {
  Fact fact = missing_fact({id, level, "fetch granularity"}, "B", Better::higher, not_measured);
  const auto points = by_axis(entries, {{"sweep", "fetch"}, {"level", level}}, "distance (B)");
  if (points.size() < 4) return fact;
  add_evidence(fact, points);
  const double hit = points.begin()->second.latency, miss = points.rbegin()->second.latency;
  if (miss < told_apart * hit) {
    fact.reason = fmt::format(
        "the second load takes {:.0f} cycles {} B from the first and {:.0f} "
        "cycles {} B from it: no miss to tell from a hit",
        hit, points.begin()->first, miss, points.rbegin()->first);
    return fact;
  }
  const double middle = (hit + miss) / 2;
  const auto first_miss =
      std::ranges::find_if(points, [&](const auto& p) { return p.second.latency > middle; });
  const auto late_hit = std::find_if(first_miss, points.end(),
                                     [&](const auto& p) { return p.second.latency <= middle; });
  if (late_hit != points.end()) {
    fact.reason = fmt::format("a load {} B further on misses, but one {} B further on hits",
                              first_miss->first, late_hit->first);
    return fact;
  }
  const std::int64_t last_hit = std::prev(first_miss)->first;
  fact.value = static_cast<double>(first_miss->first);
  fact.interval = Interval{static_cast<double>(last_hit + 4), *fact.value, 1,
                           "the words tried: the last that hits, the first that misses"};
  fact.reason.clear();
  fact.method =
      fmt::format("the second of two loads hits up to {} B after a first that missed", last_hit);
  return fact;
}

Fact l1_associativity(std::span<const Entry> entries) {
  Fact fact = missing_fact({"l1.associativity", "L1", "associativity"}, "ways", Better::higher, not_measured);
  const std::optional<double> hit = l1_hit(entries);
  if (!hit) return fact;
  std::map<std::int64_t, std::int64_t> fitting;  // by stride: most elements without misses
  std::int64_t most = 0;
  for (const std::int64_t kib : {4, 16, 64}) {
    const auto points =
        by_axis(entries, {{"sweep", "associativity"}, {"stride (B)", kib * 1024}}, "elements");
    if (points.empty()) continue;
    add_evidence(fact, points);
    most = std::max(most, points.rbegin()->first);
    for (const auto& [elements, point] : points) {
      if (point.latency >= missing_some * *hit) break;
      fitting[kib] = elements;
    }
  }
  if (fitting.empty()) return fact;
  const auto by_elements = [](const auto& stride) { return stride.second; };
  const auto least = *std::ranges::min_element(fitting, {}, by_elements);
  const auto largest = *std::ranges::max_element(fitting, {}, by_elements);
  if (least.second == most) {
    fact.reason = fmt::format(
        "sets are hashed, or there is only one: {} lines {} KiB apart stay "
        "without a miss",
        most, fitting.rbegin()->first);
  } else if (least.second != largest.second) {
    fact.reason = fmt::format("sets are hashed: {} lines stay at strides of {} KiB, {} at {} KiB",
                              least.second, least.first, largest.second, largest.first);
  } else if (fitting.size() < 2) {
    fact.reason = fmt::format("only one stride was tried ({} KiB, at which {} lines stay)",
                              least.first, least.second);
  } else {
    fact.value = static_cast<double>(least.second);
    fact.reason.clear();
    fact.method = fmt::format("as many lines stay at every power-of-two stride from {} to {} KiB",
                              fitting.begin()->first, fitting.rbegin()->first);
  }
  return fact;
}

}  // namespace

std::vector<Fact> line_facts(std::span<const Entry> entries) {
  return {l1_line(entries), fetched(entries, "L1", "l1.sector"),
          fetched(entries, "L2", "l2.fetch_granularity"), l1_associativity(entries)};
}

}  // namespace fathom::memory_latency
