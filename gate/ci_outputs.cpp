#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gate/outputs.h"
#include "reports/markdown.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/json_values.h"
#include "results/names.h"

// What programs read of a check: GitHub's annotations, JUnit's XML, JSON.

namespace fathom::gate {
namespace {

using reports::escape_xml;

/// GitHub's page "Workflow commands for GitHub Actions": what ends a command's message, or begins
/// an escape, is escaped.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : clean(text)) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

/// At most as many as GitHub shows of one step; the last one then says how many more there are.
std::string commands(const char* level, const std::string& title,
                     std::vector<std::string> messages) {
  constexpr std::size_t most = 10;
  if (messages.size() > most) {
    const std::size_t more = messages.size() - (most - 1);
    messages.resize(most - 1);
    messages.push_back(fmt::format("and {} more: see the summary", format_count(more)));
  }
  std::string text;
  for (const std::string& message : messages)
    text +=
        fmt::format("::{} title={}::{}\n", level, escaped(title, true), escaped(message, false));
  return text;
}

std::string xml_finding(const char* element, std::string_view type, const std::string& message) {
  return fmt::format("<{0} message=\"{1}\" type=\"{2}\">{1}</{0}>", element,
                     escape_xml(message), type);
}

std::string xml_case(const std::string& class_name, const std::string& name,
                     const std::string& finding) {
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n      {}\n    </testcase>\n",
      escape_xml(class_name), escape_xml(name), finding);
}

std::string xml_finding_of(const MetricDecision& metric) {
  switch (metric.outcome) {
    case Outcome::regression:
    case Outcome::missing:
      return xml_finding("failure", to_string(metric.outcome), one_line(metric));
    case Outcome::inconclusive:
      return xml_finding("error", "inconclusive", one_line(metric));
    case Outcome::ignored:
      return fmt::format("<skipped message=\"{}\" />", escape_xml(metric.reason));
    default:
      return fmt::format("<system-out>{}</system-out>", escape_xml(one_line(metric)));
  }
}

using Json = nlohmann::ordered_json;

Json to_json(const Evidence& evidence) {
  return {{"scale", evidence.relative ? "log" : "linear"},
          {"worse_by", evidence.worse},
          {"interval",
           {{"low", evidence.interval.low},
            {"high", evidence.interval.high},
            {"confidence", evidence.interval.confidence},
            {"method", evidence.interval.method}}},
          {"noise_floor", evidence.noise_floor},
          {"threshold", evidence.threshold},
          {"p", evidence.p}};
}

Json to_json(const MetricDecision& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", fathom::to_string(metric.better)},
          {"outcome", to_string(metric.outcome)},
          {"base", or_null(metric.base)},
          {"head", or_null(metric.head)},
          {"change", or_null(change_of(metric))},
          {"base_runs", metric.base_runs},
          {"head_runs", metric.head_runs},
          {"repeated", metric.repeated},
          {"adjusted_p", or_null(metric.adjusted_p)},
          {"evidence", metric.evidence ? to_json(*metric.evidence) : Json(nullptr)},
          {"reason", metric.reason},
          {"rule", metric.rule}};
}

}  // namespace

std::string github_annotations(const CheckResult& result) {
  if (result.ended) return commands("error", "Check ended", result.refusals);
  const auto lines = [&](Outcome outcome, std::vector<std::string> found = {}) {
    for (const MetricDecision* metric : with_outcome(result, outcome))
      found.push_back(one_line(*metric));
    return found;
  };
  return commands("error", "Regression", lines(Outcome::regression)) +
         commands("error", "Missing metric", lines(Outcome::missing)) +
         commands("warning", "Inconclusive", lines(Outcome::inconclusive, why_undecided(result))) +
         commands("notice", "Improvement", lines(Outcome::improved));
}

// The elements and attributes that Jenkins', GitLab's and GitHub's readers know.
std::string junit_xml(const CheckResult& result) {
  const std::vector<std::string> undecided = why_undecided(result);
  const std::string counts = fmt::format(
      "name=\"fathom check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"",
      result.metrics.size() + undecided.size(),
      count(result, Outcome::regression) + count(result, Outcome::missing),
      count(result, Outcome::inconclusive) + undecided.size(), count(result, Outcome::ignored),
      result.elapsed_s);
  // Readers take the time without its zone, as ISO 8601.
  const std::string date = result.date.substr(0, result.date.find('Z'));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0}{1}>\n", counts,
      date.empty() ? "" : fmt::format(" timestamp=\"{}\"", date));
  const char* type = result.ended ? "ended" : "inconclusive";
  for (std::size_t i = 0; i < undecided.size(); ++i)
    text += xml_case("fathom", fmt::format("comparison {}", i + 1),
                     xml_finding("error", type, undecided[i]));
  // A server groups by the class: "copy_bandwidth" of "copy_bandwidth/type:float4/...".
  for (const MetricDecision& metric : result.metrics)
    text += xml_case("fathom." + metric.name.substr(0, metric.name.find('/')), metric.name,
                     xml_finding_of(metric));
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string decision_json(const CheckResult& result) {
  Json metrics = Json::array();
  for (const MetricDecision& metric : result.metrics) metrics.push_back(to_json(metric));
  const Json json{{"fathom_check", 1},
                  {"date", result.date},
                  {"mode", result.mode},
                  {"base", result.base},
                  {"head", result.head},
                  {"exit_code", to_int(exit_code(result))},
                  {"headline", headline(result)},
                  {"rounds", result.rounds},
                  {"confirmation_rounds", result.confirmation_rounds},
                  {"elapsed_s", result.elapsed_s},
                  {"effect", effect_that_counts},
                  {"noise_factor", noise_factor},
                  {"alpha", result.alpha},
                  {"refusals", why_undecided(result)},
                  {"notes", result.notes},
                  {"metrics", std::move(metrics)}};
  // In ASCII: control characters of a document's names are escaped, those above U+007F as well.
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace fathom::gate
