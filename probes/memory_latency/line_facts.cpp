#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probes/memory_latency/points.h"

namespace fathom::memory_latency {
namespace {

/// The levels' latencies must be this far apart to tell a hit from a miss.
constexpr double told_apart = 1.3;

/// Elements that fill the cache by four thirds take longer than those that fill it by two by at
/// least this factor. A miss of the L1 takes six times as long as a hit or more. In the L2, some of
/// what fits is far from the SM already, and of what overflows some hits.
struct LineSweep {
  const char* id;
  const char* level;
  double overflow;
};
constexpr LineSweep line_sweeps[] = {{"l1.line", "L1", 2}, {"l2.line", "L2", 1.15}};

Fact line_of(std::span<const Entry> entries, const LineSweep& sweep) {
  Fact fact = missing_fact({sweep.id, sweep.level, "line size", "B"}, left_out);
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<std::int64_t, bool> at_least;
  std::vector<double> fitting;
  for (const std::int64_t candidate : {64, 128, 256}) {
    const Points points = points_by(
        entries, {{"sweep", "line"}, {"level", sweep.level}, {"candidate (B)", candidate}},
        "stride (B)");
    if (!points.contains(candidate) || !points.contains(candidate / 2)) return fact;
    add_evidence(fact, points);
    fitting.push_back(points.at(candidate / 2).latency);
    at_least[candidate] = points.at(candidate).latency >= sweep.overflow * fitting.back();
  }
  const auto [least, most] = std::ranges::minmax(fitting);
  if (most >= sweep.overflow * least) {
    fact.reason =
        fmt::format("elements that should all fit take from {:.0f} to {:.0f} cycles", least, most);
    return fact;
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
  Fact fact = missing_fact({id, level, "fetch granularity", "B"}, left_out);
  const Points points = points_by(entries, {{"sweep", "fetch"}, {"level", level}}, "distance (B)");
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
  const auto first_miss = std::ranges::find_if(
      points, [&](const auto& p) { return p.second.latency > middle; });
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

}  // namespace

std::vector<Fact> line_facts(std::span<const Entry> entries) {
  return {line_of(entries, line_sweeps[0]), line_of(entries, line_sweeps[1]),
          fetched(entries, "L1", "l1.sector"), fetched(entries, "L2", "l2.fetch_granularity")};
}

}  // namespace fathom::memory_latency
