#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/cache_sets.h"
#include "results/format.h"

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

std::string line_of(std::span<const Entry> entries, const LineSweep& sweep, Fact& fact) {
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<std::int64_t, bool> at_least;
  std::vector<double> fitting;
  for (const std::int64_t candidate : {64, 128, 256}) {
    const Points points = points_by(
        entries, {{"sweep", "line"}, {"level", sweep.level}, {"candidate (B)", candidate}},
        "stride (B)");
    if (!points.contains(candidate) || !points.contains(candidate / 2)) return left_out;
    add_evidence(fact, points);
    fitting.push_back(latency_of(*points.find(candidate / 2)));
    at_least[candidate] = latency_of(*points.find(candidate)) >= sweep.overflow * fitting.back();
  }
  const auto [least, most] = std::ranges::minmax(fitting);
  if (most >= sweep.overflow * least)
    return fmt::format("elements that should all fit take from {:.0f} to {:.0f} cycles", least,
                       most);
  if (at_least.at(256)) return "lines are 256 B long or longer, the longest tried";
  if (!at_least.at(64)) return "lines are shorter than 64 B, the shortest tried";
  fact.value = at_least.at(128) ? 128 : 64;
  fact.method = "elements at random in strides of this size overflow the cache, in half of it not";
  return "";
}

std::string fetched(std::span<const Entry> entries, const char* level, Fact& fact) {
  const Points points = points_by(entries, {{"sweep", "fetch"}, {"level", level}}, "distance (B)");
  if (points.size() < 4) return left_out;
  add_evidence(fact, points);
  const double hit = latency_of(*points.begin()), miss = latency_of(*points.rbegin());
  const auto hits = [middle = (hit + miss) / 2](const auto& p) { return latency_of(p) <= middle; };
  const auto first_miss = std::ranges::find_if_not(points, hits);
  if (miss < told_apart * hit || std::any_of(first_miss, points.end(), hits)) {
    return fmt::format(
        "no distance parts hits from misses: the second load takes {:.0f} cycles {} B from the "
        "first and {:.0f} cycles {} B from it",
        hit, points.begin()->first, miss, points.rbegin()->first);
  }
  const std::int64_t last_hit = std::prev(first_miss)->first;
  fact.value = static_cast<double>(first_miss->first);
  fact.interval = Interval{static_cast<double>(last_hit + 4), *fact.value, 1,
                           "the words tried: the last that hits, the first that misses"};
  fact.method =
      fmt::format("the second of two loads hits up to {} B after a first that missed", last_hit);
  return "";
}

}  // namespace

std::vector<Fact> line_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const LineSweep& sweep : line_sweeps)
    facts.push_back(decided({sweep.id, sweep.level, "line size", "B"},
                            [&](Fact& fact) { return line_of(entries, sweep, fact); }));
  for (const auto& [level, id] : {std::pair{"L1", "l1.sector"}, {"L2", "l2.fetch_granularity"}})
    facts.push_back(decided({id, level, "fetch granularity", "B"},
                            [&](Fact& fact) { return fetched(entries, level, fact); }));
  return facts;
}

namespace {

constexpr std::uint32_t line = 128;
/// More than any cache of a GPU is known to have.
constexpr std::uint32_t most_ways = 64;

struct SetSweep {
  const char* id;
  const char* level;
  const char* capacity_extra;  ///< of the entries
  /// A set of which at least some misses every time takes longer than this times a hit: a miss of
  /// the L1 takes six times as long or more, one of the L2 more than twice as long.
  double missing_some;
};
constexpr SetSweep sweeps[] = {{"l1.strided_lines", "L1", "expected_l1_bytes", 2},
                               {"l2.strided_lines", "L2", "expected_l2_bytes", 1.3}};

std::string bytes(std::int64_t count) { return format_bytes(static_cast<double>(count)); }

AxisFilter at(const SetSweep& sweep, std::int64_t stride) {
  return {{"sweep", "associativity"}, {"level", sweep.level}, {"stride (B)", stride}};
}

/// The level's own hit: of the L1 from its latency, of the L2, where it depends on the place, of as
/// many lines side by side.
const Entry* hit_of(std::span<const Entry> entries, const SetSweep& sweep) {
  if (sweep.level != std::string_view("L1")) return find_measured(entries, at(sweep, line));
  return find_measured(entries, {{"sweep", "latency"},
                                 {"level", "L1"},
                                 {"instruction", "ld.global"},
                                 {"method", "unrolled chase"}});
}

/// Lines of the widest stride that stay, beside what sets without a hash could keep.
std::string strided_lines(std::span<const Entry> entries, const SetSweep& sweep, Fact& fact) {
  const Entry* hit = hit_of(entries, sweep);
  std::set<std::int64_t> strides;
  double capacity = 0;  // bytes
  for (const Entry* entry : select(entries, {{"sweep", "associativity"}, {"level", sweep.level}})) {
    const AxisValue* stride = find_axis(*entry, "stride (B)");
    if (stride == nullptr || !entry->metric.value) continue;
    strides.insert(std::get<std::int64_t>(*stride));
    const double known = extra_of(sweep.capacity_extra)(*entry);
    if (!std::isnan(known)) capacity = known;
  }
  if (hit == nullptr || strides.empty()) return left_out;
  // By stride the most elements without a miss.
  std::map<std::int64_t, Points::value_type> kept;
  std::int64_t tried = 0;
  for (const std::int64_t stride : strides) {
    const Points points = points_by(entries, at(sweep, stride), "elements");
    if (points.empty()) continue;
    add_evidence(fact, points);
    tried = std::max(tried, points.rbegin()->first);
    const auto missing = std::ranges::find_if(points, [&](const auto& point) {
      return latency_of(point) >= sweep.missing_some * *hit->metric.value;
    });
    if (missing != points.begin()) kept.emplace(stride, *std::prev(missing));
  }
  const std::int64_t widest = *strides.rbegin(), narrowest = *strides.begin();
  const auto stays = kept.find(widest);
  if (stays == kept.end())
    return fmt::format("of lines {} apart not even the fewest tried stay", bytes(widest));
  const std::int64_t lines = stays->second.first;
  fact.value = static_cast<double>(lines);
  fact.method =
      fmt::format("{} apart, {:.0f} cycles each", bytes(widest), latency_of(stays->second));
  if (const auto side_by_side = kept.find(narrowest);
      narrowest != widest && side_by_side != kept.end()) {
    fact.method +=
        fmt::format(" ({:.0f} at {})", latency_of(side_by_side->second), bytes(narrowest));
  }
  if (capacity > 0) {
    const auto most = models::most_lines_kept_by_any(static_cast<std::uint64_t>(capacity), line,
                                                     most_ways, static_cast<std::uint64_t>(widest),
                                                     static_cast<std::uint64_t>(lines));
    fact.method +=
        fmt::format("; sets that are bits of the address, of up to {} ways, would keep {} of them",
                    most_ways, most);
  }
  if (lines == tried) fact.method += "; no more were tried";
  return "";
}

/// Sectors read in all over those read from a slice on average. What the SM's own part of the L2
/// answers for the other part counts where it is answered.
std::string slices(std::span<const Entry> entries, Fact& fact) {
  std::string spread;
  for (const Entry* entry : select(entries, {{"sweep", "associativity"}, {"level", "L2"}})) {
    const auto all = counter_value(*entry, "l2_read_sectors");
    const auto mean = counter_value(*entry, "l2_slice_read_sectors");
    const auto busiest = counter_value(*entry, "l2_busiest_slice_read_sectors");
    const AxisValue* stride = find_axis(*entry, "stride (B)");
    if (!all || !mean || !busiest || !(*mean > 0) || stride == nullptr) continue;
    fact.value = std::round(*all / *mean);
    spread += fmt::format("{}{:.1f} times the mean at strides of {}", spread.empty() ? "" : ", ",
                          *busiest / *mean, bytes(std::get<std::int64_t>(*stride)));
    fact.evidence.push_back(entry->name);
    fact.counters = entry->counters;
    ++fact.repeats;
  }
  if (!fact.value) return "sectors were not counted by slice in this run";
  fact.method = fmt::format(
      "sectors that one SM reads, in all over the mean of the slices; the busiest slice has {}",
      spread);
  return "";
}

}  // namespace

std::vector<Fact> set_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  for (const SetSweep& sweep : sweeps)
    facts.push_back(decided(
        {sweep.id, sweep.level, "lines of a wide stride that stay", "lines"},
        [&](Fact& fact) { return strided_lines(entries, sweep, fact); }));
  facts.push_back(decided({"l2.slices", "L2", "slices", "slices"},
                          [&](Fact& fact) { return slices(entries, fact); }));
  return facts;
}

}  // namespace fathom::memory_latency
