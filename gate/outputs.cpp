#include "gate/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/markdown.h"
#include "results/document_fields.h"
#include "results/fields.h"
#include "results/text.h"

namespace fathom {

using gate::CheckResult, gate::Evidence, gate::MetricDecision;
FATHOM_FIELDS(Evidence, "", "", worse_by, interval, noise_floor, threshold, p);
FATHOM_FIELDS(MetricDecision, "", "", name, unit, better, outcome, base, head, base_runs, head_runs,
              repeated, reason, rule);
FATHOM_FIELDS(CheckResult, "", "", date, mode, base, head, rounds, confirmation_rounds, elapsed_s,
              alpha, notes);

namespace gate {
namespace {

using Json = nlohmann::ordered_json;
using Metrics = std::vector<const MetricDecision*>;
using reports::escape_text;
using reports::escape_xml;

// What a JUnit test case holds: {0} is the message, {1} its type.
constexpr const char* xml_failure = R"(<failure message="{0}" type="{1}">{0}</failure>)";
constexpr const char* xml_error = R"(<error message="{0}" type="{1}">{0}</error>)";
constexpr const char* xml_passed = "<system-out>{0}</system-out>";
constexpr const char* xml_skipped = R"(<skipped message="{0}" />)";

/// How programs are told of an outcome: in JUnit's XML, and by an annotation of GitHub's.
struct Telling {
  Outcome outcome;
  const char* xml;
  const char* level = nullptr;  ///< of the annotation; null: there is none
};

/// In the order in which a reader wants to see them.
constexpr std::array tellings{
    Telling{Outcome::regression, xml_failure, "error"},
    Telling{Outcome::missing, xml_failure, "error"},
    Telling{Outcome::inconclusive, xml_error, "warning"},
    Telling{Outcome::improved, xml_passed, "notice"},
    Telling{Outcome::undecided, xml_passed},
    Telling{Outcome::unchanged, xml_passed},
    Telling{Outcome::added, xml_passed},
    Telling{Outcome::ignored, xml_skipped},
};

/// What is told one by one: what is not unchanged, nor undecided where most metrics moved, since a
/// refusal says it of all of them.
Metrics findings(const CheckResult& result) {
  Metrics found;
  for (const auto& [outcome, xml, level] : tellings)
    if (outcome != Outcome::unchanged && (outcome != Outcome::undecided || result.refusals.empty()))
      std::ranges::copy(with_outcome(result, outcome), std::back_inserter(found));
  return found;
}

std::string interval_text(const MetricDecision& metric) {
  const auto change = change_interval(metric);
  if (!change) return "";
  // Two rounds a side, which find suspects, cannot be as sure as the others.
  const bool as_said = change->confidence > interval_confidence - 0.005;
  return fmt::format(
      "{} to {}{}", format_signed_percent(change->low), format_signed_percent(change->high),
      as_said ? "" : fmt::format(" (with {} confidence)", format_percent(change->confidence)));
}

/// Clean: the unit is the document's.
std::string value_text(const std::optional<double>& value, const MetricDecision& metric) {
  return value ? clean(format_quantity(*value, metric.unit)) : "";
}

/// "4 TB/s to 3 TB/s"; empty where a side has none.
std::string values_text(const MetricDecision& metric) {
  if (!metric.base || !metric.head) return "";
  return value_text(metric.base, metric) + " to " + value_text(metric.head, metric);
}

std::string counts(const CheckResult& result) {
  std::vector<std::string> parts;
  for (const auto& [outcome, xml, level] : tellings)
    if (const std::size_t number = count(result, outcome); number > 0)
      parts.push_back(fmt::format("{} {}{}", format_count(number), to_string(outcome),
                                  outcome == Outcome::regression && number > 1 ? "s" : ""));
  return fmt::format("{}: {}", counted(result.metrics.size(), "metric"), fmt::join(parts, ", "));
}

std::string method(const CheckResult& result) {
  if (result.mode == "stored") return fmt::format("{} against {}.", result.head, result.base);
  if (result.rounds == 0) return fmt::format("{} in all.", format_time(result.elapsed_s));
  return fmt::format("{} a side{}, {} in all.", counted(result.rounds, "round"),
                     result.confirmation_rounds > 0
                         ? fmt::format(", {} more of the suspects", result.confirmation_rounds)
                         : "",
                     format_time(result.elapsed_s));
}

/// The header and the cells of a column in which changes and their intervals are drawn over one
/// scale: "··│··├─●─┤··".
std::vector<std::string> pictures_of(const Metrics& metrics) {
  constexpr std::size_t width = 21;
  double low = 0, high = 0;  // zero is always in the picture
  std::vector<std::optional<Interval>> drawn;
  for (const MetricDecision* metric : metrics) {
    const auto change = change_interval(*metric);
    drawn.push_back(change && std::isfinite(change->high) ? change : std::nullopt);
    if (!drawn.back()) continue;
    low = std::min({low, change->low, *change_of(*metric)});
    high = std::max({high, change->high, *change_of(*metric)});
  }
  std::vector<std::string> column(metrics.size() + 1);
  column[0] =
      low == high ? "Picture" : format_signed_percent(low) + " to " + format_signed_percent(high);
  const auto cell = [&](double change) {
    const double share = std::clamp((change - low) / (high - low), 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(share * (width - 1)));
  };
  for (std::size_t i = 0; i < metrics.size() && low < high; ++i) {
    if (!drawn[i]) continue;
    const std::size_t from = cell(drawn[i]->low), to = cell(drawn[i]->high), zero = cell(0);
    std::array<const char*, width> cells;
    for (std::size_t at = 0; at < width; ++at) cells[at] = from < at && at < to ? "─" : "·";
    cells[to] = "┤";
    cells[from] = "├";
    cells[zero] = from <= zero && zero <= to ? "┼" : "│";
    cells[cell(*change_of(*metrics[i]))] = "●";
    column[i + 1] = reports::code(fmt::format("{}", fmt::join(cells, "")));
  }
  return column;
}

std::string annotation(const char* level, std::string_view title, const std::string& message) {
  // GitHub's page "Workflow commands for GitHub Actions": a percent sign begins an escape.
  std::string text = clean(message);
  for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1))
    text.insert(at + 1, "25");
  return fmt::format("::{} title={}::{}\n", level, title, text);
}

std::string xml_case(const std::string& class_name, const std::string& name, const char* xml,
                     std::string_view type, const std::string& message) {
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n      {}\n    </testcase>\n",
      escape_xml(class_name), escape_xml(name),
      fmt::format(fmt::runtime(xml), escape_xml(message), type));
}

}  // namespace

std::string log_text(std::string_view raw) {
  std::string text = clean(raw);
  // A space inside what would begin a command; the reader sees what it was.
  const auto start = text.find_first_not_of(' ');
  if (start != std::string::npos && std::string_view(text).substr(start).starts_with("::"))
    text.insert(start + 1, " ");
  for (auto at = text.find("##"); at != std::string::npos; at = text.find("##", at))
    text.insert(++at, " ");
  return text;
}

std::string change_text(const MetricDecision& metric) {
  const auto change = change_of(metric);
  return change ? format_signed_percent(*change) : "";
}

std::string one_line(const MetricDecision& metric) {
  const std::string values = values_text(metric), change = change_text(metric);
  std::string text = clean(metric.name) + ": " + values;
  if (!change.empty()) text += fmt::format(" ({})", change);
  if (!metric.reason.empty()) text += (values.empty() ? "" : ": ") + clean(metric.reason);
  return text;
}

std::string terminal_table(const CheckResult& result) {
  std::string text = log_text(headline(result)) + "\n";
  if (!result.metrics.empty()) text += counts(result) + "\n";
  text += log_text(method(result)) + "\n";
  for (const std::string& why : why_undecided(result)) text += "  " + log_text(why) + "\n";
  for (const std::string& note : result.notes) text += "  note: " + log_text(note) + "\n";
  constexpr std::size_t most_listed = 40;
  Metrics found = findings(result);
  const std::size_t more = found.size() - std::min(found.size(), most_listed);
  found.resize(found.size() - more);
  std::size_t name_width = 0, change_width = 0;
  for (const MetricDecision* metric : found) {
    const std::size_t width = reports::width(log_text(metric->name));
    name_width = std::max(name_width, std::min<std::size_t>(width, 60));
    change_width = std::max(change_width, change_text(*metric).size());
  }
  for (const MetricDecision* metric : found) {
    text += fmt::format("  {:12}  {:{}}  {:{}}", to_string(metric->outcome), change_text(*metric),
                        change_width, log_text(metric->name), name_width);
    for (const std::string& words : {values_text(*metric), metric->reason})
      if (!words.empty()) text += "  " + log_text(words);
    text += "\n";
  }
  if (more > 0)
    text += fmt::format("  and {} more: --markdown or --json has them all\n", format_count(more));
  return text;
}

std::string markdown_summary(const CheckResult& result) {
  reports::Page page(false);
  page.heading(1, "fathom check: " + escape_text(headline(result)), "check");
  page.paragraph(escape_text(method(result)) + " " +
                 (result.metrics.empty() ? "" : escape_text(counts(result)) + "."));
  std::vector<std::string> sentences = why_undecided(result);
  sentences.insert(sentences.end(), result.notes.begin(), result.notes.end());
  for (std::string& sentence : sentences) sentence = escape_text(sentence);
  if (!sentences.empty()) page.list(sentences);
  const auto add_table = [&](const char* caption, const Metrics& metrics,
                             std::size_t shown = reports::Page::most_shown) {
    const std::vector<std::string> pictures = pictures_of(metrics);
    reports::Table table(
        {{"Outcome"},
         {"Metric"},
         ">Base",
         ">Head",
         ">Change",
         fmt::format(">Interval, {} unless said", format_percent(interval_confidence)),
         pictures[0],
         {"Why"}});
    for (const MetricDecision* metric : metrics)
      table.add_row({std::string(to_string(metric->outcome)), reports::code(metric->name),
                     escape_text(value_text(metric->base, *metric)),
                     escape_text(value_text(metric->head, *metric)), change_text(*metric),
                     interval_text(*metric), pictures[table.rows() + 1],
                     escape_text(metric->reason)});
    page.table(caption, table, "", shown);
  };
  add_table("Findings", findings(result));
  if (!result.refusals.empty()) add_table("Undecided", with_outcome(result, Outcome::undecided), 0);
  add_table("Unchanged", with_outcome(result, Outcome::unchanged), 0);
  return page.text();
}

std::string github_annotations(const CheckResult& result) {
  std::string text;
  for (const std::string& why : why_undecided(result))
    text += result.ended ? annotation("error", "Check ended", why)
                         : annotation("warning", "Inconclusive", why);
  for (const auto& [outcome, xml, level] : tellings)
    if (level)
      for (const MetricDecision* metric : with_outcome(result, outcome))
        text += annotation(level, reports::capitalised(std::string(to_string(outcome))),
                           one_line(*metric));
  return text;
}

// The elements and attributes that Jenkins', GitLab's and GitHub's readers know.
std::string junit_xml(const CheckResult& result) {
  const std::vector<std::string> undecided = why_undecided(result);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"fathom check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      result.metrics.size() + undecided.size(),
      count(result, Outcome::regression) + count(result, Outcome::missing),
      count(result, Outcome::inconclusive) + undecided.size(), count(result, Outcome::ignored),
      result.elapsed_s);
  for (std::size_t i = 0; i < undecided.size(); ++i)
    text += xml_case("fathom", fmt::format("comparison {}", i + 1), xml_error,
                     result.ended ? "ended" : "inconclusive", undecided[i]);
  for (const MetricDecision& metric : result.metrics) {
    const Telling& how = *std::ranges::find(tellings, metric.outcome, &Telling::outcome);
    // A server groups by the class: "copy_bandwidth" of "copy_bandwidth/type:float4/...".
    text += xml_case("fathom." + metric.name.substr(0, metric.name.find('/')), metric.name, how.xml,
                     to_string(metric.outcome), one_line(metric));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string decision_json(const CheckResult& result) {
  Json metrics = Json::array();
  for (const MetricDecision& metric : result.metrics) {
    Json& written = metrics.emplace_back(write_fields(metric));
    written["change"] = write_fields(change_of(metric));
    Json& evidence = written["evidence"] = nullptr;
    if (!metric.evidence) continue;
    evidence = write_fields(*metric.evidence);
    evidence["scale"] = metric.evidence->relative ? "log" : "linear";
  }
  Json json{{"fathom_check", 1}};
  json.update(write_fields(result));
  json.update({{"exit_code", to_int(exit_code(result))},
               {"headline", headline(result)},
               {"effect", effect_that_counts},
               {"noise_factor", noise_factor},
               {"refusals", why_undecided(result)},
               {"metrics", std::move(metrics)}});
  // In ASCII: control characters of a document's names are escaped, those above U+007F as well.
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace gate
}  // namespace fathom
