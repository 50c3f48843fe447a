#pragma once

#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/findings.h"

namespace fathom::planted {

/// The fact of this id, which must be there.
inline const Fact& fact(const std::vector<Fact>& facts, const std::string& id) {
  const auto found = std::ranges::find(facts, id, &Fact::id);
  if (found == facts.end()) throw std::out_of_range("no fact " + id);
  return *found;
}
inline const Fact& fact(const Findings& findings, const std::string& id) {
  return fact(findings.facts, id);
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
    if (fact.interval) {
      CHECK(fact.interval->low <= *fact.value);
      CHECK(fact.interval->high >= *fact.value);
    }
  }
}

/// The same findings, checked.
inline Findings checked(Findings findings, double least = 0) {
  check_facts(findings.facts, least);
  return findings;
}

}  // namespace fathom::planted
