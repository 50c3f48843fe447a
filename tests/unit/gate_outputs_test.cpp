#include "gate/check.h"

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

MetricDecision planted(const std::string& name, Outcome outcome, double worse) {
  MetricDecision metric{.name = name,
                        .unit = "B/s",
                        .better = Better::higher,
                        .outcome = outcome,
                        .base = 4e12,
                        .head = 4e12 * std::exp(-worse),
                        .reason = outcome == Outcome::unchanged ? "" : "because."};
  metric.evidence = Evidence{.worse_by = worse,
                             .interval = {worse - 0.001, worse + 0.001, 0.957, "planted"},
                             .threshold = 0.01};
  return metric;
}

/// One of each, with names that every format must escape, and intervals that are less sure than
/// the others or on both sides of zero.
CheckResult planted_result() {
  CheckResult result;
  result.mode = "paired";
  result.date = "2026-11-21T12:00:00Z";
  result.rounds = 2;
  result.confirmation_rounds = 8;
  result.metrics = {planted("probe/a<b>&\"c\"|%,:\n::error::", Outcome::regression, 0.05),
                    planted("probe/same", Outcome::unchanged, 0),
                    planted("probe/better", Outcome::improved, -0.05),
                    planted("probe/clock", Outcome::inconclusive, 0.04),
                    planted("probe/left-out", Outcome::ignored, 0),
                    planted("other/lost", Outcome::missing, 0),
                    planted("probe/worst", Outcome::regression, 0.2)};
  result.metrics[0].evidence->interval = {-0.01, 0.1, 0.95, "planted"};
  result.metrics[2].evidence->interval.confidence = 2.0 / 3;
  result.metrics[5].head.reset();
  result.metrics[5].evidence.reset();
  return result;
}

/// What people and CI servers get.
std::string outputs(const CheckResult& result) {
  REQUIRE(pugi::xml_document().load_string(junit_xml(result).c_str()));
  return terminal_table(result) + "\n" + markdown_summary(result) + "\n" +
         github_annotations(result) + "\n" + junit_xml(result) + "\n";
}

}  // namespace

TEST_CASE("Text for a log begins no command", "[gate]") {
  CHECK(log_text("::error::x") == ": :error::x");
  CHECK(log_text("\t ::error::x") == "  : :error::x");
  CHECK(log_text("a ::error::x") == "a ::error::x");
  CHECK(log_text("a ##[group]##vso[x] ###") == "a # #[group]# #vso[x] # # #");
}

TEST_CASE("Exit codes: a regression before a loss before doubt", "[gate]") {
  CheckResult result = planted_result();
  CHECK(exit_code(result) == ExitCode::check_failed);
  for (const auto& [gone, left] : {std::pair(Outcome::regression, ExitCode::metric_missing),
                                   {Outcome::missing, ExitCode::inconclusive},
                                   // An improvement and an ignored one are no failure.
                                   {Outcome::inconclusive, ExitCode::ok}}) {
    std::erase_if(result.metrics, [&](const auto& metric) { return metric.outcome == gone; });
    CHECK(exit_code(result) == left);
  }
  result.refusals = {"different driver: 1 and 2"};
  CHECK(exit_code(result) == ExitCode::inconclusive);
}

TEST_CASE("Every output tells what was found, and what a document says is no markup", "[gate]") {
  std::string all = outputs(planted_result());
  // What is undecided is told one by one where it is no sign of all.
  CheckResult stored = planted_result();
  stored.mode = "stored";
  stored.metrics = {planted("probe/worse", Outcome::regression, 0.05),
                    planted("probe/perhaps", Outcome::undecided, -0.5)};
  all += outputs(stored);
  stored.metrics.erase(stored.metrics.begin());
  CHECK(exit_code(stored) == ExitCode::ok);
  stored.refusals = {"1 of the 1 metrics moved"};
  all += outputs(stored);
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/gate_outputs.txt", all);
}

TEST_CASE("The JSON holds everything, and one change is told as one figure", "[gate]") {
  CheckResult result = planted_result();
  MetricDecision& metric = result.metrics[0];
  metric.head = *metric.base * 2;  // medians need not differ as the estimate says
  CHECK(change_text(metric) == "-4.88 %");
  CHECK_THAT(one_line(metric), contains("(-4.88 %)"));
  const auto json = nlohmann::json::parse(decision_json(result));
  CHECK(json.at("exit_code") == 1);
  REQUIRE(json.at("metrics").size() == 7);
  CHECK(std::abs(json.at("metrics")[0].at("change").get<double>() + 0.0488) < 1e-4);
  CHECK(json.at("metrics")[0].at("outcome") == "regression");
  CHECK(json.at("metrics")[0].at("evidence").at("worse_by") == 0.05);
  CHECK(json.at("metrics")[5].at("head").is_null());
}
