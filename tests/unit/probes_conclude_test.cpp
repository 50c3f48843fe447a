#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

TEST_CASE("without entries a probe has no answer, and each fact says why it has no value",
          "[probes]") {
  // How many facts and claims each states.
  for (const auto& [probe, statements] :
       {std::pair{"atomics", 112u}, {"bank_conflicts", 12}, {"copy_bandwidth", 11}, {"energy", 33},
        {"instructions", 192}, {"launch_overhead", 24}, {"links", 26}, {"memory_bandwidth", 40},
        {"memory_latency", 70}, {"model_validation", 0}, {"occupancy", 4}, {"tail_effect", 1},
        {"topology", 20}, {"warp_reduce", 2}}) {
    CAPTURE(probe);
    const Findings findings = planted::checked(conclusion_of(probe)({}));
    CHECK(findings.answer.empty());
    CHECK(findings.facts.size() + findings.claims.size() == statements);
    for (const Fact& fact : findings.facts) CHECK_FALSE(fact.value);
    for (const Claim& claim : findings.claims)
      CHECK(claim.verdict == ClaimVerdict::not_measured);
  }
  CHECK_FALSE(conclusion_of("another"));
}
