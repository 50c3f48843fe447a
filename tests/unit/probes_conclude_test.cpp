#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

TEST_CASE("without entries no probe answers, and all that it would state says why", "[probes]") {
  for (const char* probe :
       {"atomics", "bank_conflicts", "copy_bandwidth", "energy", "instructions", "launch_overhead",
        "links", "memory_bandwidth", "memory_latency", "model_validation", "occupancy",
        "tail_effect", "topology", "warp_reduce"}) {
    CAPTURE(probe);
    const Findings findings = planted::checked(conclusion_of(probe)({}));
    CHECK(findings.answer.empty());
    for (const Fact& fact : findings.facts) CHECK_FALSE(fact.value);
    for (const Claim& claim : findings.claims)
      CHECK(claim.verdict == ClaimVerdict::not_measured);
  }
  CHECK_FALSE(conclusion_of("gemm"));
}
