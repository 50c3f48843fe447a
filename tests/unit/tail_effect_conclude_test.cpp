#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

/// Time by waves, as a staircase or in proportion.
void add(std::vector<Entry>& entries, const char* kind, bool staircase) {
  for (double waves = 0.25; waves <= 4; waves += 0.25) {
    entries.push_back(planted::entry(
        std::string(kind) + std::to_string(waves), {{"block kind", kind}, {"waves", waves}},
        50e-6 * (staircase ? std::ceil(waves) : waves), Better::lower));
  }
}

Claim t1(bool latency, bool throughput, bool memory) {
  std::vector<Entry> entries;
  add(entries, "latency-bound", latency);
  add(entries, "throughput-bound", throughput);
  add(entries, "memory-bound", memory);
  return planted::claim(tail_effect::conclude(entries).claims, "T1");
}

}  // namespace

TEST_CASE("T1 covers every kind of block", "[probes]") {
  CHECK(t1(true, true, true).verdict == ClaimVerdict::confirmed);
  CHECK(t1(false, false, false).verdict == ClaimVerdict::refuted);
  const Claim some = t1(true, false, false);
  CHECK(some.verdict == ClaimVerdict::conditional);
  CHECK_THAT(some.figure,
             contains("1.000 for latency-bound") && contains("0.750 where they share DRAM"));
  CHECK(some.evidence.size() == 6);
  CHECK(some.gpu == "RTX 4090");
}

TEST_CASE("T1 is not measured where a kind is missing", "[probes]") {
  std::vector<Entry> entries;
  add(entries, "latency-bound", true);
  const Claim claim = tail_effect::conclude(entries).claims.front();
  CHECK(claim.verdict == ClaimVerdict::not_measured);
  CHECK(claim.figure.starts_with("its cases were left out"));
}
