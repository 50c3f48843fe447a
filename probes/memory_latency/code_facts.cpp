#include "probes/memory_latency/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/format.h"

namespace fathom::memory_latency {
namespace {

constexpr const char* swept_by_default =
    "code is swept in the default suite only, or its cases failed";

/// Plateaus closer than this are one level: the code's own pace is no more even.
constexpr double next_level = 1.1;

/// Some misses come before a cache is full, and their pace is a plateau of its own: levels closer
/// in size than this are one, which ends where the first of them does.
constexpr double next_size = 1.25;

/// Sizes by two curves are of one cache if they differ by no more than this.
constexpr double same_size = 1.25;

constexpr std::int64_t all_constants = 64 * 1024;

Curve beside_code(std::span<const Entry> entries, std::int64_t constants) {
  return curve(entries, {{"sweep", "beside code"}, {"constants (B)", constants}});
}

/// The cache that constants share with code: what of both stays in it, with all the constants
/// there are and with few of them.
Fact size_with_code(std::span<const Entry> entries, const FactName& name) {
  constexpr std::int64_t all = all_constants, few = 16 * 1024;
  const Curve with_all = beside_code(entries, all), with_few = beside_code(entries, few);
  if (!with_all.cut) {
    return missing_fact(
        name, std::string("constant memory ends before it; beside code, ") + swept_by_default);
  }
  const std::optional<std::size_t> edge = end_of_hits(with_all), second = end_of_hits(with_few);
  const double most = with_all.cut->regimes.back().last_x;
  if (!edge) {
    return missing_fact(name, fmt::format("constant memory, all {}, stays in it beside {} of code",
                                          format_bytes(all), format_bytes(most - all)));
  }
  Fact fact = size_at(with_all, edge, name);
  if (!second) {
    fact.method += fmt::format("; of {} of constants and of code together", format_bytes(all));
    return fact;
  }
  const double other = with_few.cut->boundaries[*second].below_x;
  if (std::max(other, *fact.value) > same_size * std::min(other, *fact.value)) {
    return missing_fact(
        name, fmt::format("{} of constants and of code stay where {} are constants, "
                          "{} where {} are: not one cache that both fill",
                          format_bytes(*fact.value), format_bytes(all), format_bytes(other),
                          format_bytes(few)));
  }
  fact.method += fmt::format(
      "; of constants and of code together, which share it: {} with {} of constants, {} with {}",
      format_bytes(*fact.value), format_bytes(all), format_bytes(other), format_bytes(few));
  if (fact.interval) {
    fact.interval->low = std::min(fact.interval->low, other);
    fact.interval->high = std::max(fact.interval->high, other);
  }
  add_evidence(fact, with_few.entries);
  return fact;
}

/// What a constant takes that code has thrown out of the cache which both share.
std::string latency_behind(std::span<const Entry> entries, Fact& fact) {
  const Curve c = beside_code(entries, all_constants);
  if (!c.cut) return swept_by_default;
  const Regime& last = c.cut->regimes.back();
  if (!end_of_hits(c) || last.kind != Regime::Kind::plateau) {
    return fmt::format("up to {} of constants and code not all of the constants miss",
                       format_bytes(last.last_x));
  }
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
  // A plateau's end each; a ramp between two plateaus is no level.
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; c.cut && i < c.cut->boundaries.size(); ++i)
    if (c.cut->regimes[i].kind == Regime::Kind::plateau) ends.push_back(i);
  const FactName first = size_name("const.l1.size", "constant L1");
  const FactName second = size_name("const.l1_5.size", "constant L1.5");
  facts.push_back(size_at(c, ends.empty() ? std::nullopt : std::optional(ends[0]), first));
  facts.push_back(ends.size() > 1 ? size_at(c, ends[1], second) : size_with_code(entries, second));
  facts.push_back(decided({"const.behind_l1_5.latency", "constants behind the L1.5", "latency",
                           "cycles", Better::lower},
                          [&](Fact& fact) { return latency_behind(entries, fact); }));
}

/// Plateaus of the code's pace: first and last regime of each level.
struct Level {
  std::size_t first = 0, last = 0;
};

std::vector<Level> levels_of(const Segmentation& cut) {
  std::vector<Level> levels;
  for (std::size_t i = 0; i < cut.regimes.size(); ++i) {
    const Regime& regime = cut.regimes[i];
    if (regime.kind != Regime::Kind::plateau) continue;
    if (!levels.empty() && regime.level < next_level * cut.regimes[levels.back().first].level)
      levels.back().last = i;
    else
      levels.push_back({i, i});
  }
  const auto end_of = [&](const Level& level) { return cut.regimes[level.last].last_x; };
  for (std::size_t i = 1; i + 1 < levels.size();)
    if (end_of(levels[i]) < next_size * end_of(levels[i - 1]))
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  return levels;
}

/// A level's end is the size of the cache that it comes from; what comes from behind the last one
/// has a pace, and no size.
void add_instruction_caches(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const Curve c = curve(entries, {{"sweep", "code"}});
  const std::vector<Level> levels = c.cut ? levels_of(*c.cut) : std::vector<Level>{};
  const auto id = [](const char* what, std::size_t level) {
    return level == 0 ? fmt::format("instruction_cache.{}", what)
                      : fmt::format("instruction_cache.{}_{}", what, level + 1);
  };
  if (levels.size() < 2) {
    const std::string reason = no_change(c, swept_by_default);
    facts.push_back(missing_fact(size_name(id("size", 0), "instruction cache level 1"), reason));
    facts.push_back(missing_fact({id("issue_interval", 0), "instruction cache level 1",
                                  "issue interval", "cycles", Better::lower},
                                 reason));
    return;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool has_end = i + 1 < levels.size();
    const std::string subject = has_end ? fmt::format("instruction cache level {}", i + 1)
                                        : fmt::format("behind instruction cache level {}", i);
    const Regime& regime = c.cut->regimes[levels[i].first];
    Fact pace =
        named_fact({id("issue_interval", i), subject, "issue interval", "cycles", Better::lower});
    pace.value = regime.level;
    pace.interval = regime.interval;
    pace.bound = Bound{1, "a warp issues one instruction a clock at most"};
    pace.method = fmt::format(
        "cycles from one instruction of straight-line code to the next, one warp, code of {} to {}",
        format_bytes(regime.first_x), format_bytes(c.cut->regimes[levels[i].last].last_x));
    add_evidence(pace, c.entries);
    if (has_end) {
      Fact size = size_at(c, levels[i].last, size_name(id("size", i), subject));
      size.method = fmt::format(
          "longest straight-line code, run over and over, before its instructions leave a plateau "
          "of their pace; {} regimes by change-point segmentation of {} points",
          c.cut->regimes.size(), c.entries.size());
      facts.push_back(std::move(size));
    }
    facts.push_back(std::move(pace));
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
