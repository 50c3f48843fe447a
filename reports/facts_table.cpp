#include "reports/facts_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/facts.h"
#include "reports/scale.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

std::string value_cell(const Fact& fact, const Notes& notes) {
  const bool reaches = fact.value && is_confident(fact.interval);
  const std::string text = escape_text(format_quantity(fact.value, fact.unit) +
                                       (reaches ? reach_of(*fact.value, *fact.interval) : "")) +
                           (notes.is_noisy(fact.evidence) ? " ~" : "");
  const auto share = share_of_bound(fact);
  return share && *share > 1 ? text + " **better than its bound**" : text;
}

/// `value` without its unit where that is the one that `beside` ends with.
std::string without_unit_of(const std::string& value, const std::string& beside) {
  const std::size_t space = value.find(' ');
  if (space == std::string::npos || !beside.ends_with(value.substr(space))) return value;
  return value.substr(0, space);
}

std::string beside_value(const Fact& fact, double figure) {
  return without_unit_of(format_quantity(figure, fact.unit),
                         format_quantity(fact.value, fact.unit));
}

std::string bound_text(const Fact& fact) {
  const auto share = share_of_bound(fact);
  if (!share) return "";
  return fmt::format("{:.1f} % of {}", *share * 100, beside_value(fact, fact.bound->value));
}

std::string published_text(const Fact& fact) {
  if (!fact.value || !fact.published) return "";
  if (fact.bound && *fact.bound == Bound{fact.published->value, fact.published->source}) return "";
  const std::string figure = beside_value(fact, fact.published->value);
  const auto off = deviation(fact);
  return off ? fmt::format("{} ({:+.1f} %)", figure, *off * 100) : figure;
}

/// A column of figures beside the facts' values; a text is empty where the fact has none. A source
/// that all of them share stands in the header.
struct BesideColumn {
  using TextOf = std::string (*)(const Fact&);
  std::string header, common_source;
  std::vector<std::string> texts, sources;

  BesideColumn(const char* title, const FactList& facts, TextOf text, TextOf source, Notes& notes)
      : header(title) {
    std::set<std::string> all;
    for (const Fact* fact : facts) {
      texts.push_back(text(*fact));
      sources.push_back(texts.back().empty() ? "" : source(*fact));
      if (!texts.back().empty()) all.insert(sources.back());
    }
    if (all.size() == 1) common_source = *all.begin();
    if (!common_source.empty()) header += " " + notes.mark(common_source);
  }

  std::string cell(std::size_t row, Notes& notes) const {
    if (texts[row].empty()) return "–";
    const bool common = sources[row] == common_source;
    return escape_text(texts[row]) + (common ? "" : " " + notes.mark(sources[row]));
  }
};

/// Those that any of the facts has. A column of bounds none of which is in sight says nothing; the
/// evidence has them all the same.
std::vector<BesideColumn> columns_beside(const FactList& facts, Notes& notes) {
  constexpr double least_share = 0.05;
  std::vector<BesideColumn> columns;
  if (std::ranges::any_of(
          facts, [](const Fact* f) { return share_of_bound(*f).value_or(0) >= least_share; }))
    columns.emplace_back(
        "Of its bound", facts, bound_text, [](const Fact& f) { return f.bound->source; }, notes);
  if (std::ranges::any_of(facts, [](const Fact* f) { return !published_text(*f).empty(); }))
    columns.emplace_back(
        "Published (off by)", facts, published_text,
        [](const Fact& f) { return f.published->source; }, notes);
  return columns;
}

}  // namespace

bool is_confident(const std::optional<Interval>& interval) {
  return interval && interval->confidence >= 0.8;
}

Interval ratio_interval(const Interval& over, const Interval& under) {
  return {over.low / under.high, over.high / under.low, over.confidence * under.confidence,
          "ends of both intervals"};
}

std::string reach_of(double value, const Interval& interval, int decimals) {
  const double reach = std::max(std::abs(interval.high - value), std::abs(value - interval.low)) /
                       std::abs(value) * 100;
  return std::isfinite(reach) ? fmt::format(" ± {:.{}f} %", reach, reach < 10 ? decimals : 0) : "";
}

std::optional<double> deviation(const Fact& fact) {
  if (!fact.value || !fact.published) return std::nullopt;
  const double off = (*fact.value - fact.published->value) / std::abs(fact.published->value);
  return std::isfinite(off) ? std::optional(off) : std::nullopt;
}

std::optional<double> share_of_bound(const Fact& fact) {
  if (!fact.value || !fact.bound) return std::nullopt;
  const double share = fact.better == Better::higher ? *fact.value / fact.bound->value
                                                     : fact.bound->value / *fact.value;
  return std::isfinite(share) ? std::optional(share) : std::nullopt;
}

Notes::Notes(const Document& document) {
  for (const Entry& entry : document.entries)
    if (entry.verdict.status == VerdictStatus::noisy) noisy_.insert(entry.name);
}

bool Notes::is_noisy(const std::vector<std::string>& evidence) const {
  return std::ranges::any_of(evidence,
                             [&](const std::string& name) { return noisy_.contains(name); });
}

std::string Notes::mark(const std::string& text) {
  auto at = std::ranges::find(texts_, text);
  if (at == texts_.end()) at = texts_.insert(at, text);
  return fmt::format("\\[{}\\]", at - texts_.begin() + 1);
}

std::vector<std::string> Notes::list() const {
  std::vector<std::string> items;
  for (const std::string& text : texts_) {
    items.push_back(fmt::format("\\[{}\\] {}", items.size() + 1, escape_text(text)));
  }
  return items;
}

Table fact_table(const FactList& facts, Notes& notes) {
  const std::vector<BesideColumn> beside = columns_beside(facts, notes);
  std::vector<Table::Column> headers{{"Fact"}, {"Value", Align::right}};
  for (const BesideColumn& one : beside) headers.push_back({one.header, Align::right});
  Table table(std::move(headers));
  for (std::size_t row = 0; row < facts.size(); ++row) {
    const Fact& fact = *facts[row];
    std::vector<std::string> cells{escape_text(fact.subject + ": " + fact.quantity),
                                   value_cell(fact, notes)};
    for (const BesideColumn& one : beside) cells.push_back(one.cell(row, notes));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace fathom::reports
