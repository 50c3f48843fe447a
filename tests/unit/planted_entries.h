#pragma once

#include "results/findings.h"
#include "tests/testing.h"

// What probes measured, made up, and what must hold of whatever is concluded from it.

namespace fathom::planted {

/// An entry as a probe would have measured it.
inline Entry entry(std::string name, Axes axes, double value, Better better = Better::higher) {
  Entry e;
  e.name = std::move(name);
  e.axes = std::move(axes);
  e.metric.value = value;
  e.metric.better = better;
  e.samples = {value};
  return e;
}

/// One with a name of its own and samples that are noisy by a thousandth.
inline Entry noisy(Axes axes, double value, const char* unit, Better better) {
  static int number = 0;
  std::mt19937 random(++number);
  std::normal_distribution<double> normal;
  Entry e = entry("entry" + std::to_string(number), std::move(axes), value, better);
  e.metric.unit = unit;
  e.samples.clear();
  for (int i = 0; i < 6; ++i) e.samples.push_back(value * (1 + 0.001 * normal(random)));
  return e;
}

inline void add_counter(Entry& entry, const std::string& role, double value, double expected = 0) {
  Counter counter;
  counter.role = role;
  counter.value = value;
  counter.expected = expected;
  entry.counters.push_back(std::move(counter));
}

inline Opponent opponent(const char* name, double value, double ratio) {
  Opponent opponent;
  opponent.name = name;
  opponent.value = value;
  opponent.ratio = ratio;
  return opponent;
}

inline std::vector<std::int64_t> steps(std::int64_t low, std::int64_t high, std::int64_t step) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = low; size <= high; size += step) sizes.push_back(size);
  return sizes;
}

using ::named;
inline const Claim& claim(const std::vector<Claim>& claims, const std::string& id) {
  return named(claims, &Claim::id, id);
}
inline const Fact& fact(const std::vector<Fact>& facts, const std::string& id) {
  return named(facts, &Fact::id, id);
}
inline const Fact& fact(const Findings& findings, const std::string& id) {
  return fact(findings.facts, id);
}
inline const View& view(const std::vector<View>& views, const std::string& title) {
  return named(views, &View::title, title);
}

/// A verdict, and entries of which it must be concluded.
using VerdictOf = std::pair<ClaimVerdict, std::vector<Entry>>;

inline void check_verdicts(const std::function<Findings(std::span<const Entry>)>& conclude,
                           const std::string& id, const std::vector<VerdictOf>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Claim found = claim(conclude(rows[row].second).claims, id);
    CAPTURE(id, row, found.figure);
    CHECK(found.verdict == rows[row].first);
  }
}

/// Facts and their values; null: it must have none.
inline void check_values(const Findings& findings,
                         const std::vector<std::pair<std::string, std::optional<double>>>& rows) {
  for (const auto& [id, value] : rows) {
    CAPTURE(id, fact(findings, id).reason);
    CHECK(fact(findings, id).value == value);
  }
}

/// What holds for every fact: a value with its grounds or a reason, and an id of its own. `least`
/// is what no value is below.
inline void check_facts(const std::vector<Fact>& facts, double least = 0) {
  std::set<std::string> ids;
  for (const Fact& fact : facts) {
    CAPTURE(fact.id, fact.reason);
    CHECK(ids.insert(fact.id).second);
    CHECK(fact.value.has_value() == fact.reason.empty());
    if (!fact.value) continue;
    CHECK(std::isfinite(*fact.value));
    CHECK(*fact.value >= least);
    CHECK((!fact.bound || *fact.value <= fact.bound->value));
    CHECK(fact.repeats > 0);
    CHECK_FALSE(fact.evidence.empty());
    CHECK_FALSE(fact.method.empty());
    if (fact.interval)
      CHECK((fact.interval->low <= *fact.value && fact.interval->high >= *fact.value));
  }
}

/// The same findings, checked.
inline Findings checked(Findings findings, double least = 0) {
  check_facts(findings.facts, least);
  return findings;
}

}  // namespace fathom::planted
