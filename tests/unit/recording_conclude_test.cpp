#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "probes/bank_conflicts/conclude.h"
#include "probes/copy_bandwidth/conclude.h"
#include "probes/model_validation/conclude.h"
#include "probes/occupancy/conclude.h"
#include "probes/tail_effect/conclude.h"
#include "probes/warp_reduce/conclude.h"
#include "results/document_io.h"
#include "results/verdict.h"

using namespace fathom;

// The recording is what a real GPU gave. What the probes conclude from it, and how its entries are
// judged, must not change unnoticed: whoever changes a conclusion records anew or says why.

namespace {

const Document& recording() {
  static const Document document =
      read_document(std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/result.json");
  return document;
}

std::vector<Entry> entries_of(const std::string& probe) {
  std::vector<Entry> entries;
  for (const Entry& entry : recording().entries) {
    if (entry.probe == probe) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

TEST_CASE("probes conclude from the recording what it says they concluded", "[probes][recording]") {
  const std::vector<std::pair<std::string, std::function<Findings(std::span<const Entry>)>>> probes{
      {"bank_conflicts", bank_conflicts::conclude},
      {"copy_bandwidth", copy_bandwidth::conclude},
      {"model_validation", model_validation::conclude},
      {"occupancy", occupancy_probe::conclude},
      {"tail_effect", tail_effect::conclude},
      {"warp_reduce", warp_reduce::conclude}};
  std::size_t claims = 0;
  for (const auto& [name, conclude] : probes) {
    CAPTURE(name);
    const std::vector<Entry> entries = entries_of(name);
    REQUIRE_FALSE(entries.empty());
    const Findings findings = conclude(entries);
    for (const ProbeSummary& probe : recording().probes) {
      if (probe.name == name) CHECK(findings.answer == probe.answer);
    }
    for (const Claim& claim : findings.claims) {
      CAPTURE(claim.id);
      ++claims;
      bool recorded = false;
      for (const Claim& other : recording().claims) {
        if (other.id != claim.id || other.probe != name) continue;
        recorded = true;
        CHECK(claim.verdict == other.verdict);
        CHECK(claim.figure == other.figure);
      }
      CHECK(recorded);
    }
  }
  CHECK(claims == recording().claims.size());
}

TEST_CASE("the recording's entries are judged as they were", "[recording]") {
  for (const Entry& recorded : recording().entries) {
    CAPTURE(recorded.name);
    Entry entry = recorded;
    judge_entry(entry);
    CHECK(entry.verdict == recorded.verdict);
  }
  CHECK(recording().source == Source::measured);
}

TEST_CASE("every exact counter of the recording equals its expectation", "[recording]") {
  int exact = 0;
  for (const Entry& entry : recording().entries) {
    for (const Counter& counter : entry.counters) {
      if (!counter.expected || counter.tolerance != 0) continue;
      CAPTURE(entry.name, counter.role);
      REQUIRE(counter.value);
      CHECK(*counter.value == *counter.expected);
      ++exact;
    }
  }
  CHECK(exact > 1500);
}
