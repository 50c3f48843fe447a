#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "probes/claims.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

/// Time by waves, as a staircase or in proportion.
std::vector<Entry> entries_of(const char* kind, bool staircase) {
  std::vector<Entry> entries;
  for (double waves = 0.25; waves <= 4; waves += 0.25) {
    entries.push_back(planted::entry(
        std::string(kind) + std::to_string(waves), {{"block kind", kind}, {"waves", waves}},
        50e-6 * (staircase ? std::ceil(waves) : waves), Better::lower));
  }
  return entries;
}

ClaimVerdict verdict(const std::vector<Entry>& entries) {
  return planted::claim(tail_effect::conclude(entries).claims, "T1").verdict;
}

}  // namespace

TEST_CASE("T1 follows the latency-bound blocks", "[probes]") {
  CHECK(verdict(entries_of("latency-bound", true)) == ClaimVerdict::confirmed);
  CHECK(verdict(entries_of("latency-bound", false)) == ClaimVerdict::refuted);
  CHECK(verdict(entries_of("memory-bound", true)) == ClaimVerdict::not_measured);
  CHECK(verdict({}) == ClaimVerdict::not_measured);
}

TEST_CASE("T1's figure carries all three kinds of block", "[probes]") {
  auto entries = entries_of("latency-bound", true);
  for (const Entry& e : entries_of("memory-bound", false)) entries.push_back(e);
  const auto findings = tail_effect::conclude(entries);
  const std::string figure = planted::claim(findings.claims, "T1").figure;
  CHECK(figure.find("1.000 for latency-bound") != std::string::npos);
  CHECK(figure.find("0.750 where they share DRAM") != std::string::npos);
}
