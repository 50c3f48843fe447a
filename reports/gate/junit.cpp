#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "reports/gate/outputs.h"
#include "results/clean_text.h"

// The elements and attributes that Jenkins', GitLab's and GitHub's readers know: a root
// `testsuites`, `testsuite` with counts, `testcase` with classname, name and time, and in it
// failure, error, skipped or system-out.

namespace fathom::gate {
namespace {

/// "copy_bandwidth" of "copy_bandwidth/type:float4/...": what a server groups by.
std::string class_of(const std::string& name) {
  return "fathom." + clean(name.substr(0, name.find('/')));
}

pugi::xml_node add_case(pugi::xml_node suite, const std::string& class_name,
                        const std::string& name) {
  pugi::xml_node test = suite.append_child("testcase");
  test.append_attribute("classname") = class_name.c_str();
  test.append_attribute("name") = clean(name).c_str();
  test.append_attribute("time") = "0";
  return test;
}

void add_finding(pugi::xml_node test, const char* element, const char* type,
                 const std::string& message) {
  const std::string text = clean(message);
  pugi::xml_node finding = test.append_child(element);
  finding.append_attribute("message") = text.c_str();
  finding.append_attribute("type") = type;
  finding.text() = text.c_str();
}

void add_metric(pugi::xml_node suite, const MetricDecision& metric) {
  pugi::xml_node test = add_case(suite, class_of(metric.name), metric.name);
  switch (metric.outcome) {
    case Outcome::regression:
      return add_finding(test, "failure", "regression", one_line(metric));
    case Outcome::missing:
      return add_finding(test, "failure", "missing", one_line(metric));
    case Outcome::inconclusive:
      return add_finding(test, "error", "inconclusive", one_line(metric));
    case Outcome::ignored:
      test.append_child("skipped").append_attribute("message") = clean(metric.reason).c_str();
      return;
    default:
      test.append_child("system-out").text() = one_line(metric).c_str();
  }
}

}  // namespace

std::string junit_xml(const CheckResult& result) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  const std::vector<std::string> undecided = why_undecided(result);
  const std::size_t tests = result.metrics.size() + undecided.size();
  const std::size_t failures = count(result, Outcome::regression) + count(result, Outcome::missing);
  const std::size_t errors = count(result, Outcome::inconclusive) + undecided.size();
  const std::string time = fmt::format("{:.3f}", result.elapsed_s);
  const auto add_counts = [&](pugi::xml_node node) {
    node.append_attribute("name") = "fathom check";
    node.append_attribute("tests") = static_cast<unsigned long long>(tests);
    node.append_attribute("failures") = static_cast<unsigned long long>(failures);
    node.append_attribute("errors") = static_cast<unsigned long long>(errors);
    node.append_attribute("skipped") =
        static_cast<unsigned long long>(count(result, Outcome::ignored));
    node.append_attribute("time") = time.c_str();
  };
  pugi::xml_node root = document.append_child("testsuites");
  add_counts(root);
  pugi::xml_node suite = root.append_child("testsuite");
  add_counts(suite);
  if (!result.date.empty()) {
    // Readers take the time without its zone, as ISO 8601.
    const std::string date = result.date.substr(0, result.date.find('Z'));
    suite.append_attribute("timestamp") = date.c_str();
  }
  for (std::size_t i = 0; i < undecided.size(); ++i)
    add_finding(add_case(suite, "fathom", fmt::format("comparison {}", i + 1)), "error",
                result.ended ? "ended" : "inconclusive", undecided[i]);
  for (const MetricDecision& metric : result.metrics) add_metric(suite, metric);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace fathom::gate
