#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "gate/outputs.h"
#include "results/clean_text.h"

// The elements and attributes that Jenkins', GitLab's and GitHub's readers know: a root
// `testsuites`, `testsuite` with counts, `testcase` with classname, name and time, and in it
// failure, error, skipped or system-out.

namespace fathom::gate {
namespace {

/// "copy_bandwidth" of "copy_bandwidth/type:float4/...": what a server groups by.
std::string class_of(const std::string& name) {
  return "fathom." + name.substr(0, name.find('/'));
}

using Attributes = std::vector<std::pair<const char*, std::string>>;

/// `clean` leaves no control character, a line break neither: an attribute would lose it.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// Writes elements as they come, each level indented by two spaces.
class Xml {
 public:
  void open(const char* element, const Attributes& attributes) {
    begin(element, attributes);
    text_ += ">\n";
    open_.push_back(element);
  }
  void close() {
    const char* element = open_.back();
    open_.pop_back();
    text_ += fmt::format("{}</{}>\n", indent(), element);
  }
  /// With its text, or empty.
  void leaf(const char* element, const Attributes& attributes, const std::string& text = "") {
    begin(element, attributes);
    text_ += text.empty() ? " />\n" : fmt::format(">{}</{}>\n", escaped(text), element);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string indent() const { return std::string(2 * open_.size(), ' '); }
  void begin(const char* element, const Attributes& attributes) {
    text_ += fmt::format("{}<{}", indent(), element);
    for (const auto& [name, value] : attributes)
      text_ += fmt::format(" {}=\"{}\"", name, escaped(value));
  }

  std::string text_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  std::vector<const char*> open_;
};

void open_case(Xml& xml, const std::string& class_name, const std::string& name) {
  xml.open("testcase", {{"classname", class_name}, {"name", name}, {"time", "0"}});
}

void add_finding(Xml& xml, const char* element, const char* type, const std::string& message) {
  xml.leaf(element, {{"message", message}, {"type", type}}, message);
}

void add_metric(Xml& xml, const MetricDecision& metric) {
  open_case(xml, class_of(metric.name), metric.name);
  switch (metric.outcome) {
    case Outcome::regression:
      add_finding(xml, "failure", "regression", one_line(metric));
      break;
    case Outcome::missing:
      add_finding(xml, "failure", "missing", one_line(metric));
      break;
    case Outcome::inconclusive:
      add_finding(xml, "error", "inconclusive", one_line(metric));
      break;
    case Outcome::ignored:
      xml.leaf("skipped", {{"message", metric.reason}});
      break;
    default:
      xml.leaf("system-out", {}, one_line(metric));
  }
  xml.close();
}

}  // namespace

std::string junit_xml(const CheckResult& result) {
  const std::vector<std::string> undecided = why_undecided(result);
  const std::size_t tests = result.metrics.size() + undecided.size();
  const std::size_t failures = count(result, Outcome::regression) + count(result, Outcome::missing);
  const std::size_t errors = count(result, Outcome::inconclusive) + undecided.size();
  Attributes counts{{"name", "fathom check"},
                    {"tests", fmt::format("{}", tests)},
                    {"failures", fmt::format("{}", failures)},
                    {"errors", fmt::format("{}", errors)},
                    {"skipped", fmt::format("{}", count(result, Outcome::ignored))},
                    {"time", fmt::format("{:.3f}", result.elapsed_s)}};
  Xml xml;
  xml.open("testsuites", counts);
  // Readers take the time without its zone, as ISO 8601.
  if (!result.date.empty())
    counts.emplace_back("timestamp", result.date.substr(0, result.date.find('Z')));
  xml.open("testsuite", counts);
  for (std::size_t i = 0; i < undecided.size(); ++i) {
    open_case(xml, "fathom", fmt::format("comparison {}", i + 1));
    add_finding(xml, "error", result.ended ? "ended" : "inconclusive", undecided[i]);
    xml.close();
  }
  for (const MetricDecision& metric : result.metrics) add_metric(xml, metric);
  xml.close();
  xml.close();
  return std::move(xml).text();
}

}  // namespace fathom::gate
