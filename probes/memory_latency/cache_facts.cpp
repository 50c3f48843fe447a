#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include "models/cache_sets.h"
#include "probes/memory_latency/facts.h"
#include "results/text.h"

namespace fathom::memory_latency {
namespace {

/// The entries of a sweep that have a value, by their places on two of its axes.
using Points = std::map<std::pair<double, double>, const Entry*>;

Points points_by(std::span<const Entry> entries, const char* sweep, const char* level,
                 const char* first, const char* second) {
  Points result;
  for (const Entry* entry : select(entries, {{"sweep", sweep}, {"level", level}}))
    if (const std::pair place{axis_of(first)(*entry), axis_of(second)(*entry)};
        entry->metric.value && !std::isnan(place.first + place.second))
      result.insert({place, entry});
  return result;
}

double latency_of(const Points::value_type& point) { return *point.second->metric.value; }

constexpr std::uint32_t line = 128;

struct CacheLevel {
  const char* level;
  const char* prefix;  ///< of the facts' ids
  const char* fetch;   ///< the id of what a miss brings along, behind the prefix
  /// Elements that fill the cache by four thirds take longer than those that fill it by two by at
  /// least this factor. In the L2, some of what fits is far already, and of what overflows some
  /// hits.
  double overflow;
  /// A set of which some misses takes longer than this times a hit. A miss takes twice as long as
  /// one or more, of the L1 six times.
  double missing_some;
  /// The level's own hit: of the L2, where it depends on the place, of as many lines side by side.
  AxisFilter hit;
};

const CacheLevel cache_levels[] = {
    {"L1", "l1", "sector", 2, 2, at("L1", "ld.global")},
    {"L2",
     "l2",
     "fetch_granularity",
     1.15,
     1.3,
     {{"sweep", "associativity"}, {"level", "L2"}, {"stride (B)", line}}}};

std::string line_of(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  const Points points = points_by(entries, "line", of.level, "candidate (B)", "stride (B)");
  add_evidence(fact, std::views::values(points));
  // At which candidates the elements fit nowhere but in lines shorter than the candidate.
  std::map<int, bool> at_least;
  std::vector<double> fitting;
  for (const int candidate : {64, 128, 256}) {
    const auto half = points.find({candidate, candidate / 2});
    const auto whole = points.find({candidate, candidate});
    if (half == points.end() || whole == points.end()) return left_out;
    fitting.push_back(latency_of(*half));
    at_least[candidate] = latency_of(*whole) >= of.overflow * fitting.back();
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
  const Points points = points_by(entries, "fetch", of.level, "distance (B)", "distance (B)");
  if (points.size() < 4) return left_out;
  add_evidence(fact, std::views::values(points));
  const double hit = latency_of(*points.begin()), miss = latency_of(*points.rbegin());
  const auto misses = [=](const auto& p) { return latency_of(p) > (hit + miss) / 2; };
  const auto first_miss = std::ranges::find_if(points, misses);
  if (miss < told_apart * hit || !std::all_of(first_miss, points.end(), misses))
    return "there is no distance from which on second loads miss, and below which they hit";
  const double last_hit = std::prev(first_miss)->first.first;
  fact.value = first_miss->first.first;
  fact.interval = Interval{last_hit + 4, *fact.value, 1,
                           "the words tried: the last that hits, the first that misses"};
  fact.method =
      fmt::format("the second of two loads hits up to {} B after a first that missed", last_hit);
  return "";
}

/// More than any cache of a GPU is known to have.
constexpr std::uint32_t most_ways = 64;

/// The most elements of a stride without misses, and what a load of them takes.
struct Most {
  std::uint64_t elements = 0;  ///< 0: not even the fewest tried stay
  double latency = 0;
};

struct Kept {
  std::map<std::uint64_t, Most> at;  ///< by stride; empty where there is nothing to tell
  std::set<std::uint64_t> tried;     ///< numbers of elements
  double capacity = 0;               ///< bytes; NaN: not known
};

Kept kept(std::span<const Entry> entries, const CacheLevel& of, Fact& evidence) {
  Kept result;
  const Entry* hit = find_measured(entries, of.hit);
  if (hit == nullptr) return result;
  const Points points = points_by(entries, "associativity", of.level, "stride (B)", "elements");
  add_evidence(evidence, std::views::values(points));
  std::set<double> missed;  // strides
  for (const auto& [place, entry] : points) {
    const auto [stride, elements] = place;
    const double latency = *entry->metric.value;
    result.tried.insert(static_cast<std::uint64_t>(elements));
    result.capacity = extra_of(fmt::format("expected_{}_bytes", of.prefix))(*entry);
    Most& most = result.at[static_cast<std::uint64_t>(stride)];
    if (!(latency < of.missing_some * *hit->metric.value)) missed.insert(stride);
    if (!missed.contains(stride)) most = {static_cast<std::uint64_t>(elements), latency};
  }
  return result;
}

/// Lines of the widest stride that stay, beside what sets without a hash could keep.
std::string strided_lines(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  const Kept k = kept(entries, of, fact);
  if (k.at.empty()) return left_out;
  const auto& [widest, most] = *k.at.rbegin();
  const auto& [narrowest, at_narrowest] = *k.at.begin();
  if (most.elements == 0)
    return fmt::format("of lines {} apart not even the fewest tried stay", format_bytes(widest));
  fact.value = static_cast<double>(most.elements);
  fact.method = fmt::format("{} apart, {:.0f} cycles each", format_bytes(widest), most.latency);
  if (narrowest != widest && at_narrowest.elements > 0)
    fact.method += fmt::format(" ({:.0f} at {})", at_narrowest.latency, format_bytes(narrowest));
  if (k.capacity > 0)
    fact.method += fmt::format(
        "; sets that are bits of the address, of up to {} ways, would keep {} of them", most_ways,
        models::most_lines_kept_by_any(static_cast<std::uint64_t>(k.capacity), line, most_ways,
                                       widest, most.elements));
  if (most.elements == *k.tried.rbegin()) fact.method += "; no more were tried";
  return "";
}

/// Whether so many sets of so many ways, by address bits, keep at every stride what stayed.
bool explains(const Kept& k, std::uint64_t sets, std::uint32_t ways) {
  return std::ranges::all_of(
      k.at,
      [&](const auto& at) {
        const std::uint64_t most = at.second.elements;
        const std::uint64_t stays =
            models::most_lines_kept({sets * ways * line, line, ways}, at.first, *k.tried.rbegin());
        const auto next = k.tried.upper_bound(most);
        return stays >= most && (next == k.tried.end() || stays < *next);
      });
}

std::string associativity(std::span<const Entry> entries, const CacheLevel& of, Fact& fact) {
  const Kept k = kept(entries, of, fact);
  if (k.at.empty()) return left_out;
  std::size_t none = 0, all = 0;  // strides of which none or all of the lines tried stay
  std::string stayed;
  for (const auto& [stride, most] : k.at) {
    none += most.elements == 0;
    all += most.elements == *k.tried.rbegin();
    stayed += fmt::format("{}{} lines at strides of {}", stayed.empty() ? "" : ", ", most.elements,
                          format_bytes(stride));
  }
  if (none > 0)
    return fmt::format("at {} of {} strides not even the fewest lines tried, {}, stay", none,
                       k.at.size(), *k.tried.begin());
  if (all == k.at.size())
    return fmt::format(
        "sets are hashed, or there is only one: {} lines {} apart stay without a miss",
        *k.tried.rbegin(), format_bytes(k.at.rbegin()->first));
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
    Fact& fact =
        facts.emplace_back(Fact{fmt::format("{}.{}", of.prefix, what), of.level, quantity, unit});
    fact.reason = decide(entries, of, fact);
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
