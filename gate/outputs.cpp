#include "gate/outputs.h"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/markdown.h"
#include "results/document_fields.h"
#include "results/fields.h"
#include "results/text.h"

namespace fathom::gate {
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
  const char* title = nullptr;
};

/// In the order in which a reader wants to see them.
constexpr std::array tellings{Telling{Outcome::regression, xml_failure, "error", "Regression"},
                              Telling{Outcome::missing, xml_failure, "error", "Missing metric"},
                              Telling{Outcome::inconclusive, xml_error, "warning", "Inconclusive"},
                              Telling{Outcome::improved, xml_passed, "notice", "Improvement"},
                              Telling{Outcome::undecided, xml_passed},
                              Telling{Outcome::unchanged, xml_passed},
                              Telling{Outcome::added, xml_passed},
                              Telling{Outcome::ignored, xml_skipped}};

/// What is told one by one: what is not unchanged, nor undecided where most metrics moved, since a
/// refusal says it of all of them.
Metrics findings(const CheckResult& result) {
  Metrics found;
  for (const auto& [outcome, xml, level, title] : tellings)
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
  for (const auto& [outcome, xml, level, title] : tellings)
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

/// GitHub's page "Workflow commands for GitHub Actions": a percent sign begins an escape.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : clean(text)) result += c == '%' ? "%25" : std::string(1, c);
  return result;
}

/// At most as many as GitHub shows of one step; the last one then says how many more there are.
std::string commands(const char* level, const char* title, std::vector<std::string> messages) {
  constexpr std::size_t most = 10;
  if (messages.size() > most) {
    const std::size_t more = messages.size() - (most - 1);
    messages.resize(most - 1);
    messages.push_back(fmt::format("and {} more: see the summary", format_count(more)));
  }
  std::string text;
  for (const std::string& message : messages)
    text += fmt::format("::{} title={}::{}\n", level, title, escaped(message));
  return text;
}

std::string xml_case(const std::string& class_name, const std::string& name, const char* xml,
                     std::string_view type, const std::string& message) {
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n      {}\n    </testcase>\n",
      escape_xml(class_name), escape_xml(name),
      fmt::format(fmt::runtime(xml), escape_xml(message), type));
}

Json to_json(const Evidence& evidence) {
  return {{"scale", evidence.relative ? "log" : "linear"},
          {"worse_by", evidence.worse},
          {"interval", write_fields(evidence.interval)},
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

std::string terminal_table(const CheckResult& result, bool colour) {
  const auto verdict =
      exit_code(result) == ExitCode::ok ? fmt::terminal_color::green : fmt::terminal_color::red;
  std::string text = log_text(headline(result));
  if (colour) text = fmt::format(fmt::fg(verdict), "{}", text);
  text += "\n";
  if (!result.metrics.empty()) text += counts(result) + "\n";
  text += log_text(method(result)) + "\n";
  for (const std::string& why : why_undecided(result)) text += "  " + log_text(why) + "\n";
  for (const std::string& note : result.notes) text += "  note: " + log_text(note) + "\n";
  const Metrics found = findings(result);
  std::size_t name_width = 0, change_width = 0;
  for (const MetricDecision* metric : found) {
    const std::size_t width = reports::width(log_text(metric->name));
    name_width = std::max(name_width, std::min<std::size_t>(width, 60));
    change_width = std::max(change_width, change_text(*metric).size());
  }
  constexpr std::size_t most_listed = 20;  // of one outcome
  std::map<Outcome, std::size_t> listed;
  for (const MetricDecision* metric : found) {
    const std::size_t place = listed[metric->outcome]++;
    if (place == most_listed)
      text += fmt::format("  {:12}  and {} more: --markdown or --json has them all\n",
                          to_string(metric->outcome),
                          format_count(count(result, metric->outcome) - most_listed));
    if (place >= most_listed) continue;
    text += fmt::format("  {:12}  {:{}}  {:{}}", to_string(metric->outcome), change_text(*metric),
                        change_width, log_text(metric->name), name_width);
    for (const std::string& more : {values_text(*metric), metric->reason})
      if (!more.empty()) text += "  " + log_text(more);
    text += "\n";
  }
  return text;
}

std::string markdown_summary(const CheckResult& result) {
  using reports::Align;
  reports::Page page(false);
  page.heading(1, "fathom check: " + escape_text(headline(result)), "check");
  page.paragraph(escape_text(method(result)) + " " +
                 (result.metrics.empty() ? "" : escape_text(counts(result)) + "."));
  std::vector<std::string> sentences = why_undecided(result);
  sentences.insert(sentences.end(), result.notes.begin(), result.notes.end());
  for (std::string& sentence : sentences) sentence = escape_text(sentence);
  if (!sentences.empty()) page.list(sentences);
  const Metrics found = findings(result);
  const auto table_of = [&](const Metrics& metrics, const std::vector<std::string>& pictures) {
    std::vector<reports::Table::Column> columns{
        {"Outcome"},
        {"Metric"},
        {"Base", Align::right},
        {"Head", Align::right},
        {"Change", Align::right},
        {fmt::format("Interval, {} unless said", format_percent(interval_confidence)),
         Align::right},
        {"Why"}};
    if (!pictures.empty()) columns.insert(columns.end() - 1, {pictures[0]});
    reports::Table table(columns);
    for (const MetricDecision* metric : metrics) {
      std::vector<std::string> row{std::string(to_string(metric->outcome)),
                                   reports::code(metric->name),
                                   escape_text(value_text(metric->base, *metric)),
                                   escape_text(value_text(metric->head, *metric)),
                                   change_text(*metric),
                                   interval_text(*metric),
                                   escape_text(metric->reason)};
      if (!pictures.empty()) row.insert(row.end() - 1, pictures[table.rows() + 1]);
      table.add_row(std::move(row));
    }
    return table;
  };
  page.table("Findings", table_of(found, pictures_of(found)));
  if (!result.refusals.empty())
    page.table("Undecided", table_of(with_outcome(result, Outcome::undecided), {}), "", 0);
  page.table("Unchanged", table_of(with_outcome(result, Outcome::unchanged), {}), "", 0);
  return page.text();
}

std::string github_annotations(const CheckResult& result) {
  if (result.ended) return commands("error", "Check ended", result.refusals);
  std::string text;
  for (const auto& [outcome, xml, level, title] : tellings) {
    if (!level) continue;
    std::vector<std::string> messages;
    if (outcome == Outcome::inconclusive) messages = why_undecided(result);
    for (const MetricDecision* metric : with_outcome(result, outcome))
      messages.push_back(one_line(*metric));
    text += commands(level, title, std::move(messages));
  }
  return text;
}

// The elements and attributes that Jenkins', GitLab's and GitHub's readers know.
std::string junit_xml(const CheckResult& result) {
  const std::vector<std::string> undecided = why_undecided(result);
  const std::string attributes = fmt::format(
      "name=\"fathom check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"",
      result.metrics.size() + undecided.size(),
      count(result, Outcome::regression) + count(result, Outcome::missing),
      count(result, Outcome::inconclusive) + undecided.size(), count(result, Outcome::ignored),
      result.elapsed_s);
  // Readers take the time without its zone, as ISO 8601.
  const std::string date = result.date.substr(0, result.date.find('Z'));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0}{1}>\n",
      attributes, date.empty() ? "" : fmt::format(" timestamp=\"{}\"", date));
  for (std::size_t i = 0; i < undecided.size(); ++i)
    text += xml_case("fathom", fmt::format("comparison {}", i + 1), xml_error,
                     result.ended ? "ended" : "inconclusive", undecided[i]);
  for (const MetricDecision& metric : result.metrics) {
    const Telling& how = *std::ranges::find(tellings, metric.outcome, &Telling::outcome);
    // A server groups by the class: "copy_bandwidth" of "copy_bandwidth/type:float4/...".
    text += xml_case("fathom." + metric.name.substr(0, metric.name.find('/')), metric.name, how.xml,
                     to_string(metric.outcome),
                     metric.outcome == Outcome::ignored ? metric.reason : one_line(metric));
  }
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
