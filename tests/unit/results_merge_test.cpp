#include "results/document_io.h"

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
    const auto copy_own = [&](const auto& from, auto& to) {
      std::ranges::copy_if(from, std::back_inserter(to),
                           [&](const auto& of) { return of.probe == probe.name; });
    };
    copy_own(whole.entries, part.entries);
    copy_own(whole.claims, part.claims);
    copy_own(whole.facts, part.facts);
    parts.push_back(std::move(part));
  }
  return parts;
}

Document merged(const std::vector<Document>& parts) {
  Document run = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) add_part(run, parts[i]);
  return run;
}

}  // namespace

TEST_CASE("The parts of a run make the run", "[results]") {
  Document expected = sample::document();
  expected.executable = "probe_copy_bandwidth";
  expected.elapsed_s = 30;
  std::vector<Document> three = parts();
  CHECK(merged(three) == expected);
  three[2].date = "2026-01-31T11:59:59Z";
  CHECK(merged(three).date == "2026-01-31T11:59:59Z");  // the earliest
}

TEST_CASE("Parts of different runs are refused with what differs", "[results]") {
  using Parts = std::vector<Document>;
  const auto check = [](const char* said, auto change) {
    Parts three = parts();
    change(three);
    const Refusal refused = refusal_of([&] { merged(three); });
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.text, contains(said));
  };
  check("bank_conflicts differs from those before in driver: \"580.65.06\" and \"575.57.08\"",
        [](Parts& p) { p[1].fingerprint.driver = "575.57.08"; });
  check("source: \"measured\" and \"replay\"", [](Parts& p) { p[2].source = Source::replay; });
  check("suite: \"default\" and \"quick\"", [](Parts& p) { p[2].suite = "quick"; });
  check("power_limit_w: 700.0 and null", [](Parts& p) { p[2].fingerprint.power_limit_w.reset(); });
  check("confidential_computing: \"\" and \"on\"",
        [](Parts& p) { p[1].fingerprint.confidential_computing = "on"; });
}
