#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "gate/outputs.h"
#include "reports/markdown.h"
#include "results/clean_text.h"
#include "results/format.h"

namespace fathom::gate {
namespace {

/// In the order in which a reader wants to see them.
constexpr std::array told{Outcome::regression, Outcome::missing,   Outcome::inconclusive,
                          Outcome::improved,   Outcome::undecided, Outcome::unchanged,
                          Outcome::added,      Outcome::ignored};

/// Lines of one kind that a terminal gets.
constexpr std::size_t most_listed = 20;

/// What is told one by one: what is not unchanged, nor undecided where most metrics moved, since a
/// refusal says it of all of them.
std::vector<std::pair<Outcome, std::vector<const MetricDecision*>>> findings(
    const CheckResult& result) {
  std::vector<std::pair<Outcome, std::vector<const MetricDecision*>>> all;
  for (const Outcome outcome : told)
    if (outcome != Outcome::unchanged && (outcome != Outcome::undecided || result.refusals.empty()))
      all.emplace_back(outcome, with_outcome(result, outcome));
  return all;
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
  for (const Outcome outcome : told)
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

/// Changes and their intervals drawn over one scale, a row a metric: "··│··├─●─┤··".
class ChangePictures {
 public:
  explicit ChangePictures(const std::vector<const MetricDecision*>& metrics) {
    for (const MetricDecision* metric : metrics)
      if (const auto change = change_interval(*metric); change && std::isfinite(change->high)) {
        low_ = std::min({low_, change->low, *change_of(*metric)});
        high_ = std::max({high_, change->high, *change_of(*metric)});
      }
  }

  std::string scale() const {
    if (low_ == high_) return "Picture";
    return format_signed_percent(low_) + " to " + format_signed_percent(high_);
  }

  std::string of(const MetricDecision& metric) const {
    const auto change = change_interval(metric);
    if (!change || !std::isfinite(change->high) || low_ == high_) return "";
    const std::size_t from = cell(change->low), to = cell(change->high), zero = cell(0);
    std::string text;
    for (std::size_t at = 0; at < width; ++at)
      text += at == cell(*change_of(metric)) ? "●"
              : at == zero                   ? from <= at && at <= to ? "┼" : "│"
              : at == from                   ? "├"
              : at == to                     ? "┤"
              : from < at && at < to         ? "─"
                                             : "·";
    return reports::code(text);
  }

 private:
  static constexpr std::size_t width = 21;
  std::size_t cell(double change) const {
    const double share = std::clamp((change - low_) / (high_ - low_), 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(share * (width - 1)));
  }
  double low_ = 0, high_ = 0;  // zero is always in the picture
};

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
  const auto found = findings(result);
  std::size_t name_width = 0, change_width = 0;
  for (const auto& [outcome, metrics] : found)
    for (const MetricDecision* metric : metrics) {
      const std::size_t width = reports::width(log_text(metric->name));
      name_width = std::max(name_width, std::min<std::size_t>(width, 60));
      change_width = std::max(change_width, change_text(*metric).size());
    }
  for (const auto& [outcome, metrics] : found) {
    const std::size_t listed = std::min(metrics.size(), most_listed);
    for (const MetricDecision* metric : std::span(metrics).first(listed)) {
      text += fmt::format("  {:12}  {:{}}  {:{}}", to_string(outcome), change_text(*metric),
                          change_width, log_text(metric->name), name_width);
      for (const std::string& more : {values_text(*metric), metric->reason})
        if (!more.empty()) text += "  " + log_text(more);
      text += "\n";
    }
    if (metrics.size() > listed)
      text += fmt::format("  {:12}  and {} more: --markdown or --json has them all\n",
                          to_string(outcome), format_count(metrics.size() - listed));
  }
  return text;
}

std::string markdown_summary(const CheckResult& result) {
  using reports::Align;
  using reports::escape_text;
  reports::Page page(false);
  page.heading(1, "fathom check: " + escape_text(headline(result)), "check");
  page.paragraph(escape_text(method(result)) + " " +
                 (result.metrics.empty() ? "" : escape_text(counts(result)) + "."));
  std::vector<std::string> sentences = why_undecided(result);
  sentences.insert(sentences.end(), result.notes.begin(), result.notes.end());
  for (std::string& sentence : sentences) sentence = escape_text(sentence);
  if (!sentences.empty()) page.list(sentences);
  std::vector<const MetricDecision*> found;
  for (const auto& [outcome, metrics] : findings(result))
    found.insert(found.end(), metrics.begin(), metrics.end());
  const ChangePictures pictures(found);
  const auto table_of = [&](const std::vector<const MetricDecision*>& metrics, bool pictured) {
    std::vector<reports::Table::Column> columns{
        {"Outcome"},
        {"Metric"},
        {"Base", Align::right},
        {"Head", Align::right},
        {"Change", Align::right},
        {fmt::format("Interval, {} unless said", format_percent(interval_confidence)),
         Align::right},
        {"Why"}};
    if (pictured) columns.insert(columns.end() - 1, {pictures.scale()});
    reports::Table table(columns);
    for (const MetricDecision* metric : metrics) {
      std::vector<std::string> row{std::string(to_string(metric->outcome)),
                                   reports::code(metric->name),
                                   escape_text(value_text(metric->base, *metric)),
                                   escape_text(value_text(metric->head, *metric)),
                                   change_text(*metric),
                                   interval_text(*metric),
                                   escape_text(metric->reason)};
      if (pictured) row.insert(row.end() - 1, pictures.of(*metric));
      table.add_row(std::move(row));
    }
    return table;
  };
  page.table("Findings", table_of(found, true));
  if (!result.refusals.empty())
    page.table("Undecided", table_of(with_outcome(result, Outcome::undecided), false), "", 0);
  page.table("Unchanged", table_of(with_outcome(result, Outcome::unchanged), false), "", 0);
  return page.text();
}

}  // namespace fathom::gate
