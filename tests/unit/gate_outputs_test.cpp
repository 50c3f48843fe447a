#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "reports/gate/outputs.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

MetricDecision planted(const std::string& name, Outcome outcome, double worse) {
  MetricDecision metric;
  metric.name = name;
  metric.unit = "B/s";
  metric.better = Better::higher;
  metric.outcome = outcome;
  metric.base = 4e12;
  metric.head = 4e12 * std::exp(-worse);
  Evidence evidence;
  evidence.worse = worse;
  evidence.interval = {worse - 0.001, worse + 0.001, 0.95, "planted"};
  evidence.threshold = 0.01;
  metric.evidence = evidence;
  metric.reason = outcome == Outcome::unchanged ? "" : "because.";
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

TEST_CASE("Exit codes: a regression before a loss before doubt", "[gate]") {
  CheckResult result = planted_result();
  CHECK(to_int(exit_code(result)) == 1);
  result.metrics.erase(result.metrics.begin());
  CHECK(to_int(exit_code(result)) == 4);
  result.metrics.pop_back();
  CHECK(to_int(exit_code(result)) == 3);
  std::erase_if(result.metrics,
                [](const auto& metric) { return metric.outcome == Outcome::inconclusive; });
  CHECK(to_int(exit_code(result)) == 0);  // an improvement and an ignored one are no failure
  result.refusals = {"different driver: 1 and 2"};
  CHECK(to_int(exit_code(result)) == 3);
  CHECK(headline(result) == "INCONCLUSIVE: different driver: 1 and 2");
}

TEST_CASE("JUnit's XML parses and counts what it holds", "[gate]") {
  CheckResult result = planted_result();
  result.refusals = {"the machine was disturbed"};
  pugi::xml_document xml;
  REQUIRE(xml.load_string(junit_xml(result).c_str()));
  const auto suite = xml.child("testsuites").child("testsuite");
  CHECK(suite.attribute("tests").as_int() == 7);
  CHECK(suite.attribute("failures").as_int() == 2);
  CHECK(suite.attribute("errors").as_int() == 2);
  CHECK(suite.attribute("skipped").as_int() == 1);
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const auto test : suite.children("testcase")) {
    ++tests;
    failures += !test.child("failure").empty();
    errors += !test.child("error").empty();
    skipped += !test.child("skipped").empty();
    CHECK(!test.attribute("classname").empty());
  }
  CHECK(tests == 7);
  CHECK(failures == 2);
  CHECK(errors == 2);
  CHECK(skipped == 1);
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
  CHECK(text.find("::error title=Missing metric::other/lost: because.") != std::string::npos);
  CHECK(text.find("::warning title=Inconclusive::probe/clock") != std::string::npos);
  CHECK(text.find("::notice title=Improvement::probe/better") != std::string::npos);
  for (int i = 0; i < 30; ++i)
    result.metrics.push_back(planted("probe/" + std::to_string(i), Outcome::regression, 0.03));
  const std::string many = github_annotations(result);
  std::size_t errors = 0;
  for (auto at = many.find("::error title=Regression"); at != std::string::npos;
       at = many.find("::error title=Regression", at + 1))
    ++errors;
  CHECK(errors == 10);
  CHECK(many.find("and 22 more") != std::string::npos);
}

TEST_CASE("The terminal shows what changed, and the largest change first", "[gate]") {
  CheckResult result = planted_result();
  result.metrics.push_back(planted("probe/worst", Outcome::regression, 0.2));
  const std::string text = terminal_table(result, false);
  CHECK(text.find("FAIL: 2 regressions confirmed\n") == 0);
  CHECK(text.find("probe/worst") < text.find("probe/a<b>"));
  CHECK(text.find("probe/same") == std::string::npos);
  CHECK(text.find("-4.88 %") != std::string::npos);  // of the rate, not of the time
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(terminal_table(result, true).find('\x1b') != std::string::npos);
}

TEST_CASE("The Markdown holds every metric, and markup from names stays text", "[gate]") {
  const std::string text = markdown_summary(planted_result());
  for (const char* name : {"probe/same", "probe/better", "probe/clock", "other/lost"})
    CHECK(text.find(name) != std::string::npos);
  CHECK(text.find("<b>&\"c\"|") == std::string::npos);
  CHECK(text.find("-4.97 % to -4.78 %") != std::string::npos);
}

TEST_CASE("The JSON holds everything and parses", "[gate]") {
  const auto json = nlohmann::json::parse(decision_json(planted_result()));
  CHECK(json.at("exit_code") == 1);
  REQUIRE(json.at("metrics").size() == 6);
  CHECK(json.at("metrics")[0].at("outcome") == "regression");
  CHECK(json.at("metrics")[0].at("evidence").at("worse_by") == 0.05);
  CHECK(json.at("metrics")[5].at("head").is_null());
}
