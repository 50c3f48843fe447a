#include "results/merge.h"

#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

/// The sample document as its probes left it: one part each.
std::vector<Document> parts() {
  const Document whole = sample::document();
  std::vector<Document> parts;
  for (const ProbeSummary& probe : whole.probes) {
    Document part = sample::empty_run();
    part.executable = "probe_" + probe.name;
    part.elapsed_s = 10;
    part.warnings = whole.warnings;
    part.probes = {probe};
    for (const Entry& entry : whole.entries) {
      if (entry.probe == probe.name) part.entries.push_back(entry);
    }
    for (const Claim& claim : whole.claims) {
      if (claim.probe == probe.name) part.claims.push_back(claim);
    }
    for (const Fact& fact : whole.facts) {
      if (fact.probe == probe.name) part.facts.push_back(fact);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

TEST_CASE("The parts of a run make the run", "[results]") {
  Document expected = sample::document();
  expected.executable = "probe_copy_bandwidth";
  expected.elapsed_s = 30;
  CHECK(merge_documents(parts()) == expected);
}

TEST_CASE("Merging one after the other gives the same", "[results]") {
  const std::vector<Document> three = parts();
  const Document two = merge_documents({three[0], three[1]});
  CHECK(merge_documents({two, three[2]}) == merge_documents(three));
  CHECK(merge_documents({three[0]}) == three[0]);
}

TEST_CASE("The earliest date counts", "[results]") {
  std::vector<Document> three = parts();
  three[2].date = "2026-01-31T11:59:59Z";
  CHECK(merge_documents(three).date == "2026-01-31T11:59:59Z");
}

TEST_CASE("Parts of different runs are refused with what differs", "[results]") {
  using Parts = std::vector<Document>;
  const auto check = [](const char* said, auto change) {
    Parts three = parts();
    change(three);
    const Refusal refused = refusal_of([&] { merge_documents(three); });
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.text, contains(said));
  };
  check("copy_bandwidth and bank_conflicts differ in driver: 580.65.06 and 575.57.08",
        [](Parts& p) { p[1].fingerprint.driver = "575.57.08"; });
  check("source: measured and replay", [](Parts& p) { p[2].source = Source::replay; });
  check("suite: default and quick", [](Parts& p) { p[2].suite = "quick"; });
  check("power limit in W: 700 and unknown",
        [](Parts& p) { p[2].fingerprint.power_limit_w.reset(); });
  check("two of them hold the probe copy_bandwidth", [](Parts& p) { p[1] = p[0]; });
  check("two of them hold the fact dram.bandwidth",
        [](Parts& p) { p[2].facts = {p[0].facts.front()}; });
  CHECK_THROWS_AS(merge_documents({}), std::invalid_argument);
}

TEST_CASE("Every member of a fingerprint counts", "[results]") {
  const Fingerprint same = sample::fingerprint();
  CHECK(fingerprint_differences(same, same).empty());
  Fingerprint other;  // differs in everything, as every member of the sample but one is set
  other.confidential_computing = "on";
  CHECK(fingerprint_differences(same, other).size() == 22);
}

TEST_CASE("A claim that two probes answer becomes one", "[results]") {
  const auto merged_claim = [](ClaimVerdict first, ClaimVerdict second) {
    std::vector<Document> two = parts();
    two.pop_back();
    two[0].claims = {{"X1", "s", "c", first, "one", {"a"}, "copy_bandwidth"}};
    two[1].claims = {{"X1", "s", "c", second, "two", {"b"}, "bank_conflicts"}};
    const Document merged = merge_documents(two);
    REQUIRE(merged.claims.size() == 1);
    return merged.claims[0];
  };
  const Claim later = merged_claim(ClaimVerdict::not_measured, ClaimVerdict::confirmed);
  CHECK(later.verdict == ClaimVerdict::confirmed);
  CHECK(later.figure == "two");
  CHECK(later.probe == "bank_conflicts");
  const Claim earlier = merged_claim(ClaimVerdict::refuted, ClaimVerdict::does_not_apply);
  CHECK(earlier.verdict == ClaimVerdict::refuted);
  CHECK(earlier.figure == "one");
  const Claim both = merged_claim(ClaimVerdict::confirmed, ClaimVerdict::refuted);
  CHECK(both.verdict == ClaimVerdict::conditional);
  CHECK(both.figure == "copy_bandwidth: one; bank_conflicts: two");
  CHECK(both.evidence == std::vector<std::string>{"a", "b"});
}

TEST_CASE("A claim that three probes answer has each figure once, under its probe's name",
          "[results]") {
  std::vector<Document> three = parts();
  REQUIRE(three.size() == 3);
  for (Document& part : three) {
    const std::string probe = part.probes.front().name;
    part.claims = {{"X1", "s", "c", ClaimVerdict::confirmed, "figure of " + probe, {}, probe}};
  }
  const Claim claim = merge_documents(three).claims.at(0);
  CHECK(claim.figure ==
        "copy_bandwidth: figure of copy_bandwidth; bank_conflicts: figure of bank_conflicts; "
        "warp_reduce: figure of warp_reduce");
  CHECK(merge_documents({merge_documents({three[0], three[1]}), three[2]}).claims.at(0) == claim);
}
