#include "probes/atomics/patterns.h"
#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;

// Facts that have a value: recording_conclude_test.cpp.
TEST_CASE("a fact about atomics without a value says why", "[probes]") {
  Entry failed = planted::entry("failed",
                                {{"sweep", "operations"},
                                 {"instruction", "atom.gpu.global.add.u32"},
                                 {"pattern", atomics::own_words}},
                                0);
  failed.metric.value.reset();
  failed.verdict.reasons = {"3 of 64 words hold another result"};
  const Findings findings = planted::checked(atomics::conclude(std::vector{failed}));
  CHECK(fact(findings, "l2.atomic_add_throughput").reason == "3 of 64 words hold another result");
  CHECK_THAT(fact(findings, "l2.atomic_exch_b128_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "dsmem.atomic_add_throughput").reason, contains("9.0"));
  CHECK_THAT(fact(findings, "l2.atomic_add_u64_throughput").reason, contains("left out"));
  CHECK(findings.answer.empty());
}
