#include <fmt/format.h>

#include <algorithm>

#include "probes/memory_latency/facts.h"
#include "results/format.h"

namespace fathom::memory_latency {
namespace {

constexpr const char* swept_by_default =
    "code is swept in the default suite only, or its cases failed";

constexpr std::int64_t all_constants = 64 * 1024;

Curve beside_code(std::span<const Entry> entries, std::int64_t constants) {
  return curve(entries, {{"sweep", "beside code"}, {"constants (B)", constants}});
}

/// The cache that constants share with code: what of both stays in it, with all the constants
/// there are and with few of them.
Fact size_with_code(std::span<const Entry> entries, const FactName& name) {
  constexpr std::int64_t few_constants = 16 * 1024;
  constexpr double same_size = 1.25;  // at most between two curves of one cache
  const std::string all = format_bytes(all_constants), few = format_bytes(few_constants);
  const Curve with_all = beside_code(entries, all_constants);
  const Curve with_few = beside_code(entries, few_constants);
  const std::size_t edge = end_of_hits(with_all), second = end_of_hits(with_few);
  if (!with_all.cut)
    return missing_fact(
        name, std::string("constant memory ends before it; beside code, ") + swept_by_default);
  if (edge == no_end)
    return missing_fact(
        name, fmt::format("constant memory, all {}, stays in it beside {} of code", all,
                          format_bytes(with_all.cut->regimes.back().last_x - all_constants)));
  Fact fact = size_at(with_all, edge, name);
  if (second == no_end) {
    fact.method += fmt::format("; of {} of constants and of code together", all);
    return fact;
  }
  const double other = with_few.cut->boundaries[second].below_x;
  const std::string sizes = fmt::format("{} with {} of constants, {} with {}",
                                        format_bytes(*fact.value), all, format_bytes(other), few);
  if (std::max(other, *fact.value) > same_size * std::min(other, *fact.value))
    return missing_fact(name, "what stays of both is not one cache that both fill: " + sizes);
  fact.method += "; of constants and of code together, which share it: " + sizes;
  widen(fact, other);
  add_evidence(fact, with_few.entries);
  return fact;
}

/// What a constant takes that code has thrown out of the cache which both share.
std::string latency_behind(std::span<const Entry> entries, Fact& fact) {
  const Curve c = beside_code(entries, all_constants);
  if (!c.cut) return swept_by_default;
  const Regime& last = c.cut->regimes.back();
  if (end_of_hits(c) == no_end || !is_plateau(last))
    return fmt::format("up to {} of constants and code not all of the constants miss",
                       format_bytes(last.last_x));
  fact.value = last.level;
  fact.interval = last.interval;
  fact.method = fmt::format(
      "{} of constants beside more code than leaves room for them; the same from {} to {} of both, "
      "the most tried",
      format_bytes(all_constants), format_bytes(last.first_x), format_bytes(last.last_x));
  add_evidence(fact, c.entries);
  return "";
}

void add_constants(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "size"}, {"level", "constant"}});
  std::vector<std::size_t> levels = plateaus(c);
  levels.resize(std::max<std::size_t>(levels.size(), 2), no_end);
  const FactName second = size_name("const.l1_5.size", "constant L1.5");
  facts.push_back(size_at(c, levels[0], size_name("const.l1.size", "constant L1")));
  facts.push_back(c.ends(levels[1]) ? size_at(c, levels[1], second)
                                    : size_with_code(entries, second));
  facts.push_back(decided({"const.behind_l1_5.latency", "constants behind the L1.5", "latency",
                           "cycles", Better::lower},
                          [&](Fact& fact) { return latency_behind(entries, fact); }));
}

/// Levels of the code's pace: first and last regime of each.
std::vector<std::pair<std::size_t, std::size_t>> code_levels(const Curve& c) {
  /// Plateaus closer than this are one level: the code's own pace is no more even.
  constexpr double next_level = 1.1;
  /// Some misses come before a cache is full, and their pace is a plateau of its own: levels closer
  /// in size than this are one, which ends where the first of them does.
  constexpr double next_size = 1.25;
  std::vector<std::pair<std::size_t, std::size_t>> levels;
  for (const std::size_t i : plateaus(c)) {
    const std::vector<Regime>& regimes = c.cut->regimes;
    if (!levels.empty() && regimes[i].level < next_level * regimes[levels.back().first].level)
      levels.back().second = i;
    else
      levels.emplace_back(i, i);
  }
  for (std::size_t i = 1; i + 1 < levels.size();) {
    const auto end_of = [&](std::size_t k) { return c.cut->regimes[levels[k].second].last_x; };
    if (end_of(i) < next_size * end_of(i - 1))
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return levels;
}

/// A level's end is the size of the cache that it comes from; what comes from behind the last one
/// has a pace, and no size.
void add_instruction_caches(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "code"}});
  auto levels = code_levels(c);
  if (levels.size() < 2) levels.assign(1, {no_end, no_end});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto [first, last] = levels[i];
    const bool has_end = i == 0 || i + 1 < levels.size();
    const std::string number = i == 0 ? "" : fmt::format("_{}", i + 1);
    const std::string subject = has_end ? fmt::format("instruction cache level {}", i + 1)
                                        : fmt::format("behind instruction cache level {}", i);
    if (has_end) {
      Fact& size = facts.emplace_back(size_at(
          c, last, size_name("instruction_cache.size" + number, subject), swept_by_default));
      if (size.value)
        size.method = fmt::format(
            "longest straight-line code, run over and over, before its instructions leave a "
            "plateau of their pace; {} regimes by change-point segmentation of {} points",
            c.cut->regimes.size(), c.entries.size());
    }
    Fact& pace =
        facts.emplace_back(named_fact({"instruction_cache.issue_interval" + number, subject,
                                       "issue interval", "cycles", Better::lower}));
    if (first == no_end) {
      pace.reason = no_change(c, swept_by_default);
      continue;
    }
    const Regime& regime = c.cut->regimes[first];
    pace.value = regime.level;
    pace.interval = regime.interval;
    pace.bound = Bound{1, "a warp issues one instruction a clock at most"};
    pace.method = fmt::format(
        "cycles from one instruction of straight-line code to the next, one warp, code of {} to {}",
        format_bytes(regime.first_x), format_bytes(c.cut->regimes[last].last_x));
    add_evidence(pace, c.entries);
  }
}

}  // namespace

std::vector<Fact> code_and_constant_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  add_constants(facts, entries);
  add_instruction_caches(facts, entries);
  return facts;
}

}  // namespace fathom::memory_latency
