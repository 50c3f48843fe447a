#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "gate/outputs.h"
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
  metric.evidence = Evidence{.worse = worse,
                             .interval = {worse - 0.001, worse + 0.001, 0.95, "planted"},
                             .threshold = 0.01};
  return metric;
}

/// One of each, with names that every format must escape.
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
                    planted("other/lost", Outcome::missing, 0)};
  result.metrics.back().head.reset();
  result.metrics.back().evidence.reset();
  return result;
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
  CHECK(headline(result) == "INCONCLUSIVE: different driver: 1 and 2");
}

TEST_CASE("JUnit's XML parses and counts what it holds", "[gate]") {
  CheckResult result = planted_result();
  result.refusals = {"the machine was disturbed"};
  pugi::xml_document xml;
  REQUIRE(xml.load_string(junit_xml(result).c_str()));
  const auto suite = xml.child("testsuites").child("testsuite");
  const auto cases = suite.children("testcase");
  CHECK(std::distance(cases.begin(), cases.end()) == 7);
  CHECK(suite.attribute("tests").as_int() == 7);
  for (const auto& [attribute, element, number] :
       {std::tuple{"failures", "failure", 2}, {"errors", "error", 2}, {"skipped", "skipped", 1}}) {
    CHECK(suite.attribute(attribute).as_int() == number);
    CHECK(std::ranges::count_if(cases, [&](const auto& test) {
            return !test.child(element).empty() && !test.attribute("classname").empty();
          }) == number);
  }
  const auto regression =
      suite.find_child_by_attribute("testcase", "name", "probe/a<b>&\"c\"|%,: ::error::");
  REQUIRE(regression);
  CHECK(std::string(regression.attribute("classname").value()) == "fathom.probe");
  CHECK(std::string(regression.child("failure").attribute("type").value()) == "regression");
}

TEST_CASE("Annotations are one line each, escaped, and at most ten of a kind", "[gate]") {
  CheckResult result = planted_result();
  const std::string text = github_annotations(result);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.find("::error title=Regression::probe/a<b>&\"c\"|%25,: ::error::: 4 TB/s to") == 0);
  CHECK_THAT(text, contains("::error title=Missing metric::other/lost: because.") &&
                       contains("::warning title=Inconclusive::probe/clock") &&
                       contains("::notice title=Improvement::probe/better"));
  for (int i = 0; i < 30; ++i)
    result.metrics.push_back(planted("probe/" + std::to_string(i), Outcome::regression, 0.03));
  const std::string many = github_annotations(result);
  CHECK(std::count(many.begin(), many.end(), '\n') == 10 + 2 + 1);  // and how many more
  CHECK_THAT(many, contains("and 22 more"));
}

TEST_CASE("The terminal shows the largest change first, and its verdict in colour", "[gate]") {
  CheckResult result = planted_result();
  result.metrics.push_back(planted("probe/worst", Outcome::regression, 0.2));
  const std::string text = terminal_table(result, false);
  CHECK(text.find("FAIL: 2 regressions confirmed\n") == 0);
  CHECK(text.find("probe/worst") < text.find("probe/a<b>"));
  CHECK_THAT(text, !contains("probe/same") && contains("-4.88 %"));  // of the rate, not of the time
  CHECK_THAT(text, !contains('\x1b'));
  CHECK_THAT(terminal_table(result, true), contains('\x1b'));
}

TEST_CASE("The Markdown holds every metric over one scale, and markup stays text", "[gate]") {
  CheckResult result = planted_result();
  // An interval that cannot be as sure as the others says how sure it is.
  result.metrics[0].evidence->interval.confidence = 0.957;
  for (const char* name : {"probe/same", "probe/better", "probe/clock", "other/lost"})
    CHECK_THAT(markdown_summary(result), contains(name));
  CHECK_THAT(markdown_summary(result),
             !contains("<b>&\"c\"|") && contains("-4.97 % to -4.78 %") && !contains("confidence)"));
  result.metrics[0].evidence->interval.confidence = 2.0 / 3;
  CHECK_THAT(markdown_summary(result), contains("-4.97 % to -4.78 % (with 66.7 % confidence)") &&
                                           contains("Interval, 95 % unless said"));
  result.metrics[0].evidence->interval = {-0.01, 0.1, 0.95, "planted"};
  const std::string text = markdown_summary(result);
  CHECK_THAT(text, contains("| -9.52 % to +5.23 % |"));  // the scale
  CHECK_THAT(text, contains("`├─────●──────┼┤······`") && contains("`·············│······●`"));
  // Nothing to draw of a metric without a change, nor of one that is not to be told.
  CHECK_THAT(text, contains("`other/lost` | 4 TB/s | | | | |"));
  CHECK(std::count(text.begin(), text.end(), '`') == 2 * 5 + 2 * 4);  // names and pictures
}

TEST_CASE("What is undecided is told in every output, one by one where it is no sign of all",
          "[gate]") {
  CheckResult result = planted_result();
  result.mode = "stored";
  result.metrics = {planted("probe/worse", Outcome::regression, 0.05),
                    planted("probe/worst", Outcome::regression, 0.06),
                    planted("probe/perhaps", Outcome::undecided, -0.5)};
  const std::string text = terminal_table(result, false);
  CHECK_THAT(text, contains("\n3 metrics: 2 regressions, 1 undecided\n") &&
                       contains("  undecided     +64.9 %  probe/perhaps"));
  CHECK_THAT(markdown_summary(result),
             contains("**Findings**") && contains("| undecided | `probe/perhaps`"));
  CHECK_THAT(decision_json(result), contains("\"outcome\": \"undecided\""));
  result.metrics.erase(result.metrics.begin(), result.metrics.begin() + 2);
  CHECK(exit_code(result) == ExitCode::ok);
  result.refusals = {"1 of the 1 metrics moved"};
  CHECK_THAT(terminal_table(result, false), !contains("probe/perhaps"));
  CHECK_THAT(markdown_summary(result),
             !contains("Findings") && contains("<summary><b>Undecided</b> · 1 row</summary>"));
}

TEST_CASE("The JSON holds everything, and one change is told as one figure", "[gate]") {
  CheckResult result = planted_result();
  MetricDecision& metric = result.metrics[0];
  metric.head = *metric.base * 2;  // medians need not differ as the estimate says
  CHECK(change_text(metric) == "-4.88 %");
  CHECK_THAT(one_line(metric), contains("(-4.88 %)"));
  const auto json = nlohmann::json::parse(decision_json(result));
  CHECK(json.at("exit_code") == 1);
  REQUIRE(json.at("metrics").size() == 6);
  CHECK(std::abs(json.at("metrics")[0].at("change").get<double>() + 0.0488) < 1e-4);
  CHECK(json.at("metrics")[0].at("outcome") == "regression");
  CHECK(json.at("metrics")[0].at("evidence").at("worse_by") == 0.05);
  CHECK(json.at("metrics")[5].at("head").is_null());
}
