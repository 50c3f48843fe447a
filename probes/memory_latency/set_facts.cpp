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

constexpr std::uint32_t line = 128;

struct CacheLevel {
  const char* level;
  const char* prefix;  ///< of the facts' ids
  const char* fetch;   ///< the id of what a miss brings along, behind the prefix
  /// Elements that fill the cache by four thirds take longer than those that fill it by two by at
  /// least this factor. A miss of the L1 takes six times as long as a hit or more. In the L2, some
  /// of what fits is far from the SM already, and of what overflows some hits.
  double overflow;
  /// A set of which at least some misses every time takes longer than this times a hit: a miss of
  /// the L1 takes six times as long or more, one of the L2 more than twice as long.
  double missing_some;
  /// The level's own hit: of the L2, where it depends on the place, of as many lines side by side.
  AxisFilter hit;
};

const CacheLevel cache_levels[] = {
    {"L1",
     "l1",
     "sector",
     2,
     2,
     {{"sweep", "latency"},
      {"level", "L1"},
      {"instruction", "ld.global"},
      {"method", "unrolled chase"}}},
    {"L2",
     "l2",
     "fetch_granularity",
     1.15,
     1.3,
     {{"sweep", "associativity"}, {"level", "L2"}, {"stride (B)", std::int64_t{line}}}}};

std::string line_of(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<std::int64_t, bool> at_least;
  std::vector<double> fitting;
  for (const std::int64_t candidate : {64, 128, 256}) {
    const Points points =
        points_by(entries, {{"sweep", "line"}, {"level", of.level}, {"candidate (B)", candidate}},
                  "stride (B)");
    if (!points.contains(candidate) || !points.contains(candidate / 2)) return left_out;
    add_evidence(fact, std::views::values(points));
    fitting.push_back(latency_of(*points.find(candidate / 2)));
    at_least[candidate] = latency_of(*points.find(candidate)) >= of.overflow * fitting.back();
  }
  const auto [least, most] = std::ranges::minmax(fitting);
  if (most >= of.overflow * least) return "not all elements that should fit take the same";
  if (at_least.at(256)) return "lines are 256 B long or longer, the longest tried";
  if (!at_least.at(64)) return "lines are shorter than 64 B, the shortest tried";
  fact.value = at_least.at(128) ? 128 : 64;
  fact.method = "elements at random in strides of this size overflow the cache, in half of it not";
  return "";
}

std::string fetched(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  constexpr double told_apart = 1.3;  // how far a miss must be from a hit
  const Points points =
      points_by(entries, {{"sweep", "fetch"}, {"level", of.level}}, "distance (B)");
  if (points.size() < 4) return left_out;
  add_evidence(fact, std::views::values(points));
  const double hit = latency_of(*points.begin()), miss = latency_of(*points.rbegin());
  const auto misses = [=](const auto& p) { return latency_of(p) > (hit + miss) / 2; };
  const auto first_miss = std::ranges::find_if(points, misses);
  if (miss < told_apart * hit || !std::all_of(first_miss, points.end(), misses))
    return "there is no distance from which on second loads miss, and below which they hit";
  const std::int64_t last_hit = std::prev(first_miss)->first;
  fact.value = static_cast<double>(first_miss->first);
  fact.interval = Interval{static_cast<double>(last_hit + 4), *fact.value, 1,
                           "the words tried: the last that hits, the first that misses"};
  fact.method =
      fmt::format("the second of two loads hits up to {} B after a first that missed", last_hit);
  return "";
}

/// More than any cache of a GPU is known to have.
constexpr std::uint32_t most_ways = 64;

std::string bytes(std::int64_t count) { return format_bytes(static_cast<double>(count)); }

/// What the sweep of a level has told.
struct Kept {
  Points most;  ///< by stride, where some stay: the most elements without misses
  std::set<std::int64_t> strides, elements;  ///< tried
  double capacity = 0;                       ///< bytes; NaN: not known
  std::int64_t most_at(std::int64_t stride) const {
    return std::get<std::int64_t>(*find_axis(*most.at(stride), "elements"));
  }
  std::int64_t tried() const { return *elements.rbegin(); }  ///< most elements of all strides
};

/// Without strides where there is nothing to tell.
Kept kept(std::span<const Entry> entries, const CacheLevel& of, Fact& evidence) {
  Kept result;
  const Entry* hit = find_measured(entries, of.hit);
  if (hit == nullptr) return result;
  const AxisFilter sweep{{"sweep", "associativity"}, {"level", of.level}};
  for (const std::int64_t stride : std::views::keys(points_by(entries, sweep, "stride (B)"))) {
    result.strides.insert(stride);
    AxisFilter where = sweep;
    where.emplace_back("stride (B)", stride);
    const Points points = points_by(entries, where, "elements");
    add_evidence(evidence, std::views::values(points));
    bool all_hit = true;
    for (const auto& point : points) {
      result.elements.insert(point.first);
      result.capacity = extra_of(fmt::format("expected_{}_bytes", of.prefix))(*point.second);
      all_hit = all_hit && latency_of(point) < of.missing_some * *hit->metric.value;
      if (all_hit) result.most[stride] = point.second;
    }
  }
  return result;
}

/// Lines of the widest stride that stay, beside what sets without a hash could keep.
std::string strided_lines(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  const Kept k = kept(entries, of, fact);
  if (k.strides.empty()) return left_out;
  const std::int64_t widest = *k.strides.rbegin(), narrowest = *k.strides.begin();
  if (!k.most.contains(widest))
    return fmt::format("of lines {} apart not even the fewest tried stay", bytes(widest));
  const auto stay = static_cast<std::uint64_t>(k.most_at(widest));
  fact.value = static_cast<double>(stay);
  fact.method =
      fmt::format("{} apart, {:.0f} cycles each", bytes(widest), latency_of(*k.most.find(widest)));
  if (narrowest != widest && k.most.contains(narrowest))
    fact.method += fmt::format(" ({:.0f} at {})", latency_of(*k.most.begin()), bytes(narrowest));
  if (k.capacity > 0)
    fact.method += fmt::format(
        "; sets that are bits of the address, of up to {} ways, would keep {} of them", most_ways,
        models::most_lines_kept_by_any(static_cast<std::uint64_t>(k.capacity), line, most_ways,
                                       static_cast<std::uint64_t>(widest), stay));
  if (k.most_at(widest) == k.tried()) fact.method += "; no more were tried";
  return "";
}

/// Whether an index of address bits, into so many sets of so many ways, keeps at every stride what
/// stayed.
bool explains(const Kept& k, std::uint64_t sets, std::uint32_t ways) {
  return std::ranges::all_of(
      std::views::keys(k.most),
      [&](std::int64_t stride) {
        const auto stays = static_cast<std::int64_t>(models::most_lines_kept(
            {sets * ways * line, line, ways}, static_cast<std::uint64_t>(stride),
            static_cast<std::uint64_t>(k.tried())));
        const auto next = k.elements.upper_bound(k.most_at(stride));
        return stays >= k.most_at(stride) && (next == k.elements.end() || stays < *next);
      });
}

std::string associativity(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  const Kept k = kept(entries, of, fact);
  if (k.strides.empty()) return left_out;
  if (k.most.size() < k.strides.size()) {
    return fmt::format("at {} of {} strides not even the fewest lines tried, {}, stay",
                       k.strides.size() - k.most.size(), k.strides.size(), *k.elements.begin());
  }
  std::string stayed;
  bool all = true;
  for (const std::int64_t stride : std::views::keys(k.most)) {
    all = all && k.most_at(stride) == k.tried();
    stayed += fmt::format("{}{} lines at strides of {}", stayed.empty() ? "" : ", ",
                          k.most_at(stride), bytes(stride));
  }
  if (all)
    return fmt::format(
        "sets are hashed, or there is only one: {} lines {} apart stay without a miss", k.tried(),
        bytes(*k.strides.rbegin()));
  constexpr std::uint64_t most_sets = 1 << 20;
  std::set<std::uint32_t> possible;  // numbers of ways, powers of two
  for (std::uint32_t ways = 1; ways <= most_ways; ways *= 2)
    for (std::uint64_t sets = 1; sets <= most_sets && !possible.contains(ways); sets *= 2)
      if (explains(k, sets, ways)) possible.insert(ways);
  if (possible.empty()) return "sets are hashed: no index of address bits keeps " + stayed;
  if (possible.size() > 1) return "several numbers of ways fit what stays: " + stayed;
  fact.value = *possible.begin();
  fact.method = "the only ways with which sets without a hash keep what stays: " + stayed;
  return "";
}

/// Sectors read in all over those read from a slice on average. What the SM's own part of the L2
/// answers for the other part counts where it is answered.
std::string slices(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  std::string spread;
  for (const Entry* entry : select(entries, {{"sweep", "associativity"}, {"level", of.level}})) {
    const double all = counter_of("l2_read_sectors")(*entry);
    const double mean = counter_of("l2_slice_read_sectors")(*entry);
    const double busiest = counter_of("l2_busiest_slice_read_sectors")(*entry);
    if (!(all + busiest >= 0 && mean > 0)) continue;
    fact.value = std::round(all / mean);
    spread += fmt::format("{}{:.1f} times the mean at strides of {}", spread.empty() ? "" : ", ",
                          busiest / mean, format_bytes(axis_of("stride (B)")(*entry)));
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
  const auto add = [&](const CacheLevel& of, const char* what, const char* quantity,
                       const char* unit, auto decide) {
    facts.push_back(decided({fmt::format("{}.{}", of.prefix, what), of.level, quantity, unit},
                            [&](Fact& fact) { return decide(entries, of, fact); }));
  };
  for (const CacheLevel& of : cache_levels) add(of, "line", "line size", "B", line_of);
  for (const CacheLevel& of : cache_levels) add(of, of.fetch, "fetch granularity", "B", fetched);
  for (const CacheLevel& of : cache_levels) {
    add(of, "associativity", "associativity", "ways", associativity);
    add(of, "strided_lines", "lines of a wide stride that stay", "lines", strided_lines);
  }
  add(cache_levels[1], "slices", "slices", "slices", slices);
  return facts;
}

}  // namespace fathom::memory_latency
