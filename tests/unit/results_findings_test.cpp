#include "results/findings.h"

#include "results/document_io.h"
#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

/// Concludes how many entries it was given.
Conclude counting(std::vector<Fact> facts = {}) {
  return [facts](std::span<const Entry> entries) {
    Findings findings;
    findings.answer = std::to_string(entries.size());
    Claim claim;
    claim.id = "T2";
    claim.figure = "counted " + findings.answer;
    findings.claims = {claim};
    findings.facts = facts;
    return findings;
  };
}

Document recording(const std::string& name) {
  return read_document(FATHOM_SOURCE_DIR "/recordings/h200/" + name);
}

const ProbeSummary& summary_of(const Document& document, const std::string& probe) {
  return named(document.probes, &ProbeSummary::name, probe);
}

std::set<std::string> claimed_by(const Document& document) {
  std::set<std::string> probes;
  for (const Claim& claim : document.claims) probes.insert(claim.probe);
  return probes;
}

}  // namespace

TEST_CASE("What a probe concludes takes the place of what it concluded before", "[results]") {
  const Document before = recording("result.json");
  Document document = before;
  const std::string probe = "occupancy";
  const auto own = std::ranges::count(document.entries, probe, &Entry::probe);
  REQUIRE(own > 0);
  put_findings(probe, counting(), document);
  CHECK(summary_of(document, probe).answer == std::to_string(own));
  CHECK(summary_of(document, probe).views.empty());
  CHECK(summary_of(document, probe).question == summary_of(before, probe).question);
  CHECK(std::ranges::count(document.claims, probe, &Claim::probe) == 1);
  // All others' and what was measured are as they were.
  CHECK(claimed_by(document) == claimed_by(before));
  CHECK(document.entries == before.entries);
  for (const ProbeSummary& other : before.probes)
    if (other.name != probe) CHECK(summary_of(document, other.name) == other);
}

TEST_CASE("A published figure from the probe stays, and others have none", "[results]") {
  Document document = recording("atlas/result.json");
  document.facts.clear();
  Fact own, unknown;
  own.id = "l1.latency";
  unknown.id = "l1.colour";
  own.unit = unknown.unit = "cycles";
  own.published = Published{7, "the probe's"};
  put_findings(document.probes.front().name, counting({own, unknown}), document);
  CHECK(document.facts.at(0).published == own.published);
  CHECK_FALSE(document.facts.at(1).published);
}

TEST_CASE("Concluded again, a document says who measured and who concluded", "[results]") {
  const Document before = recording("result.json");
  Document document = before;
  document.notes = {"tail_effect: measured by fathom 0.1 (1), conclusions by fathom 0.1 (2).", "x"};
  const auto known = [](std::string_view probe) {
    return probe == "tail_effect" || probe == "occupancy" ? counting() : Conclude();
  };
  conclude_again(document, known);
  conclude_again(document, known);  // says so once
  CHECK(document.entries == before.entries);
  CHECK(document.fathom_commit == before.fathom_commit);
  CHECK(summary_of(document, "copy_bandwidth") == summary_of(before, "copy_bandwidth"));
  REQUIRE(document.notes.size() == 2);
  CHECK(document.notes.front() == "x");
  CHECK_THAT(document.notes.back(), contains("occupancy, tail_effect: measured by fathom ") &&
                                        contains(before.fathom_commit));
}
