#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include "models/cache_sets.h"
#include "results/format.h"

namespace fathom::memory_latency {
namespace {

/// Entries of a sweep by the place on one of its axes.
using Points = std::map<std::int64_t, const Entry*>;

/// The entries that `filter` selects and that have a value, by the whole number on `axis`.
Points points_by(std::span<const Entry> entries, const AxisFilter& filter, const char* axis) {
  Points result;
  for (const Entry* entry : select(entries, filter)) {
    const AxisValue* value = find_axis(*entry, axis);
    if (entry->metric.value && value != nullptr)
      result.insert({std::get<std::int64_t>(*value), entry});
  }
  return result;
}

double latency_of(const Points::value_type& point) { return *point.second->metric.value; }

/// The levels' latencies must be this far apart to tell a hit from a miss.
constexpr double told_apart = 1.3;

struct CacheLevel {
  const char* level;
  const char* prefix;          ///< of the facts' ids
  const char* capacity_extra;  ///< of the entries
  const char* fetch;           ///< the id of what a miss brings along, behind the prefix
  /// Elements that fill the cache by four thirds take longer than those that fill it by two by at
  /// least this factor. A miss of the L1 takes six times as long as a hit or more. In the L2, some
  /// of what fits is far from the SM already, and of what overflows some hits.
  double overflow;
  /// A set of which at least some misses every time takes longer than this times a hit: a miss of
  /// the L1 takes six times as long or more, one of the L2 more than twice as long.
  double missing_some;
};
constexpr CacheLevel cache_levels[] = {
    {"L1", "l1", "expected_l1_bytes", "sector", 2, 2},
    {"L2", "l2", "expected_l2_bytes", "fetch_granularity", 1.15, 1.3}};

std::string line_of(std::span<const Entry> entries, const CacheLevel& sweep, Fact& fact) {
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<std::int64_t, bool> at_least;
  std::vector<double> fitting;
  for (const std::int64_t candidate : {64, 128, 256}) {
    const Points points = points_by(
        entries, {{"sweep", "line"}, {"level", sweep.level}, {"candidate (B)", candidate}},
        "stride (B)");
    if (!points.contains(candidate) || !points.contains(candidate / 2)) return left_out;
    add_evidence(fact, std::views::values(points));
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
  add_evidence(fact, std::views::values(points));
  const double hit = latency_of(*points.begin()), miss = latency_of(*points.rbegin());
  if (miss < told_apart * hit) {
    return fmt::format(
        "the second load takes {:.0f} cycles {} B from the first and {:.0f} "
        "cycles {} B from it: no miss to tell from a hit",
        hit, points.begin()->first, miss, points.rbegin()->first);
  }
  const auto misses = [middle = (hit + miss) / 2](const auto& p) { return latency_of(p) > middle; };
  const auto first_miss = std::ranges::find_if(points, misses);
  const auto late_hit = std::find_if_not(first_miss, points.end(), misses);
  if (late_hit != points.end()) {
    return fmt::format("a load {} B further on misses, but one {} B further on hits",
                       first_miss->first, late_hit->first);
  }
  const std::int64_t last_hit = std::prev(first_miss)->first;
  fact.value = static_cast<double>(first_miss->first);
  fact.interval = Interval{static_cast<double>(last_hit + 4), *fact.value, 1,
                           "the words tried: the last that hits, the first that misses"};
  fact.method =
      fmt::format("the second of two loads hits up to {} B after a first that missed", last_hit);
  return "";
}

constexpr std::uint32_t line = 128;
/// More than any cache of a GPU is known to have.
constexpr std::uint32_t most_ways = 64;

std::string bytes(std::int64_t count) { return format_bytes(static_cast<double>(count)); }

/// What the sweep of a level has told: by stride the most elements without misses, and how long
/// they take.
struct Kept {
  std::map<std::int64_t, std::int64_t> most;  ///< strides at which some stay
  std::map<std::int64_t, double> latency;     ///< of these elements
  std::set<std::int64_t> strides, elements;   ///< tried
  double capacity = 0;                        ///< bytes
  std::int64_t tried() const { return *elements.rbegin(); }  ///< most elements of all strides
};

Kept kept(std::span<const Entry> entries, const CacheLevel& sweep, double hit, Fact& evidence) {
  Kept result;
  for (const Entry* entry : select(entries, {{"sweep", "associativity"}, {"level", sweep.level}})) {
    const AxisValue* stride = find_axis(*entry, "stride (B)");
    if (stride == nullptr || !entry->metric.value) continue;
    result.strides.insert(std::get<std::int64_t>(*stride));
    const double capacity = extra_of(sweep.capacity_extra)(*entry);
    if (!std::isnan(capacity)) result.capacity = capacity;
  }
  for (const std::int64_t stride : result.strides) {
    const Points points = points_by(
        entries, {{"sweep", "associativity"}, {"level", sweep.level}, {"stride (B)", stride}},
        "elements");
    add_evidence(evidence, std::views::values(points));
    bool all_hit = true;
    for (const auto& point : points) {
      result.elements.insert(point.first);
      all_hit = all_hit && latency_of(point) < sweep.missing_some * hit;
      if (!all_hit) continue;
      result.most[stride] = point.first;
      result.latency[stride] = latency_of(point);
    }
  }
  return result;
}

/// The level's own hit: of the L1 from its latency, of the L2, where it depends on the place, of as
/// many lines side by side.
std::optional<double> hit_of(std::span<const Entry> entries, const CacheLevel& sweep) {
  const Entry* entry = sweep.level == std::string_view("L1")
                           ? find_measured(entries, {{"sweep", "latency"},
                                                     {"level", "L1"},
                                                     {"instruction", "ld.global"},
                                                     {"method", "unrolled chase"}})
                           : find_measured(entries, {{"sweep", "associativity"},
                                                     {"level", sweep.level},
                                                     {"stride (B)", std::int64_t{line}}});
  return entry == nullptr ? std::nullopt : entry->metric.value;
}

/// Lines of the widest stride that stay, beside what sets without a hash could keep.
std::string strided_lines(const Kept& k, Fact& fact) {
  const std::int64_t widest = *k.strides.rbegin(), narrowest = *k.strides.begin();
  if (!k.most.contains(widest))
    return fmt::format("of lines {} apart not even the fewest tried stay", bytes(widest));
  fact.value = static_cast<double>(k.most.at(widest));
  fact.method = fmt::format("{} apart, {:.0f} cycles each", bytes(widest), k.latency.at(widest));
  if (narrowest != widest && k.latency.contains(narrowest))
    fact.method += fmt::format(" ({:.0f} at {})", k.latency.at(narrowest), bytes(narrowest));
  if (k.capacity > 0) {
    const auto most = models::most_lines_kept_by_any(static_cast<std::uint64_t>(k.capacity), line,
                                                     most_ways, static_cast<std::uint64_t>(widest),
                                                     static_cast<std::uint64_t>(*fact.value));
    fact.method +=
        fmt::format("; sets that are bits of the address, of up to {} ways, would keep {} of them",
                    most_ways, most);
  }
  fact.method += fact.value == static_cast<double>(k.tried()) ? "; no more were tried" : "";
  return "";
}

/// Numbers of ways, powers of two, with which an index of address bits keeps at every stride what
/// stayed.
std::vector<std::uint32_t> ways_that_explain(const Kept& k) {
  constexpr std::uint64_t most_sets = 1 << 20;
  std::vector<std::uint32_t> result;
  for (std::uint32_t ways = 1; ways <= most_ways; ways *= 2) {
    bool explained = false;
    for (std::uint64_t sets = 1; sets <= most_sets && !explained; sets *= 2) {
      explained = std::ranges::all_of(
          k.most,
          [&](const auto& at) {
            const auto stays = models::most_lines_kept({sets * ways * line, line, ways},
                                                       static_cast<std::uint64_t>(at.first),
                                                       static_cast<std::uint64_t>(k.tried()));
            const auto next = std::ranges::upper_bound(k.elements, at.second);
            return stays >= static_cast<std::uint64_t>(at.second) &&
                   (next == k.elements.end() || stays < static_cast<std::uint64_t>(*next));
          });
    }
    if (explained) result.push_back(ways);
  }
  return result;
}

std::string associativity(const Kept& k, Fact& fact) {
  if (k.most.size() < k.strides.size()) {
    return fmt::format("at {} of {} strides not even the fewest lines tried, {}, stay",
                       k.strides.size() - k.most.size(), k.strides.size(), *k.elements.begin());
  }
  if (std::ranges::all_of(k.most, [&](const auto& at) { return at.second == k.tried(); })) {
    return fmt::format(
        "sets are hashed, or there is only one: {} lines {} apart stay without "
        "a miss",
        k.tried(), bytes(*k.strides.rbegin()));
  }
  std::string stayed;
  for (const auto& [stride, elements] : k.most) {
    stayed += fmt::format("{}{} lines at strides of {}", stayed.empty() ? "" : ", ", elements,
                          bytes(stride));
  }
  const std::vector<std::uint32_t> ways = ways_that_explain(k);
  if (ways.empty()) return "sets are hashed: no index of address bits keeps " + stayed;
  if (ways.size() > 1) return "several numbers of ways fit what stays: " + stayed;
  fact.value = ways.front();
  fact.method = "the only ways with which sets without a hash keep what stays: " + stayed;
  return "";
}

void add_sets(std::vector<Fact>& facts, std::span<const Entry> entries, const CacheLevel& sweep) {
  const std::optional<double> hit = hit_of(entries, sweep);
  const auto add = [&](const char* what, const char* quantity, const char* unit, auto decide) {
    facts.push_back(decided({fmt::format("{}.{}", sweep.prefix, what), sweep.level, quantity, unit},
                            [&](Fact& fact) -> std::string {
                              if (!hit) return left_out;
                              const Kept k = kept(entries, sweep, *hit, fact);
                              return fact.evidence.empty() ? left_out : decide(k, fact);
                            }));
  };
  add("associativity", "associativity", "ways", associativity);
  add("strided_lines", "lines of a wide stride that stay", "lines", strided_lines);
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

std::vector<Fact> cache_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  const auto add = [&](const CacheLevel& of, const char* what, const char* quantity, auto decide) {
    facts.push_back(
        decided({fmt::format("{}.{}", of.prefix, what), of.level, quantity, "B"}, decide));
  };
  for (const CacheLevel& of : cache_levels)
    add(of, "line", "line size", [&](Fact& fact) { return line_of(entries, of, fact); });
  for (const CacheLevel& of : cache_levels)
    add(of, of.fetch, "fetch granularity",
        [&](Fact& fact) { return fetched(entries, of.level, fact); });
  for (const CacheLevel& of : cache_levels) add_sets(facts, entries, of);
  facts.push_back(decided({"l2.slices", "L2", "slices", "slices"},
                          [&](Fact& fact) { return slices(entries, fact); }));
  return facts;
}

}  // namespace fathom::memory_latency
