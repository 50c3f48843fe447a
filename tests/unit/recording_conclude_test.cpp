#include "gemm/bench/conclude.h"
#include "results/document_io.h"
#include "results/verdict.h"
#include "tests/testing.h"

using namespace fathom;

// The recording is what a real GPU gave. What the probes conclude from it, and how its entries are
// judged, must not change unnoticed: whoever changes a conclusion records anew or says why.

namespace {

Document read_recording(const std::string& name) {
  return read_document(std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200" / name);
}

const Document& recording() {
  static const Document document = read_recording("result.json");
  return document;
}

const Document& ladder_recording() {
  static const Document document = read_recording("gemm/result.json");
  return document;
}

}  // namespace

TEST_CASE("the ladders conclude from their recording what it says they concluded",
          "[gemm][recording]") {
  const Document& document = ladder_recording();
  const Findings findings = gemm::conclude(document.entries);
  REQUIRE(document.probes.size() == 1);
  CHECK(findings.answer == document.probes[0].answer);
  for (const Claim& claim : findings.claims) {
    CAPTURE(claim.id);
    const auto recorded = std::ranges::find(document.claims, claim.id, &Claim::id);
    REQUIRE(recorded != document.claims.end());
    CHECK(claim.verdict == recorded->verdict);
    CHECK(claim.evidence == recorded->evidence);
    CHECK(claim.figure == recorded->figure);
    CHECK(claim.author == recorded->author);
    CHECK_FALSE((claim.author.empty() || claim.gpu.empty()));
  }
  CHECK(findings.claims.size() == document.claims.size());
}

TEST_CASE("the recordings' entries are judged as they were", "[recording]") {
  for (const Document* document : {&recording(), &ladder_recording()}) {
    for (const Entry& recorded : document->entries) {
      CAPTURE(recorded.name);
      Entry entry = recorded;
      judge_entry(entry);
      CHECK(entry.verdict == recorded.verdict);
    }
    CHECK(document->source == Source::measured);
  }
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
