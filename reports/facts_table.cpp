#include "reports/facts_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/scale.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

bool breaks_bound(const Fact& fact) {
  if (!fact.value || !fact.bound) return false;
  return fact.better == Better::higher ? *fact.value > fact.bound->value
                                       : *fact.value < fact.bound->value;
}

std::string value_cell(const Fact& fact) {
  if (!fact.value) return "–";
  const std::string value = escape_text(format_quantity(fact.value, fact.unit));
  return breaks_bound(fact) ? value + " **better than its bound**" : value;
}

std::string interval_cell(const Fact& fact) {
  if (!fact.value || !fact.interval) return "–";
  return fmt::format("{} ({})", escape_text(format_interval(*fact.interval, fact.unit)),
                     format_percent(fact.interval->confidence));
}

std::string bound_cell(const Fact& fact) {
  if (!fact.bound) return "–";
  return escape_text(
      fmt::format("{} ({})", format_quantity(fact.bound->value, fact.unit), fact.bound->source));
}

std::string published_cell(const Fact& fact) {
  if (!fact.published) return "–";
  return escape_text(fmt::format("{} ({})", format_quantity(fact.published->value, fact.unit),
                                 fact.published->source));
}

std::string deviation_cell(const Fact& fact) {
  const auto off = deviation(fact);
  if (!off) return "–";
  return (*off > 0 ? "+" : "") + format_percent(*off);
}

std::string counter_text(const Counter& counter) {
  const std::string name = escape_text(spaced(counter.role));
  if (!counter.value) {
    return fmt::format("{} is missing ({})", name, escape_text(without_full_stop(counter.reason)));
  }
  return fmt::format("{} {}", name, escape_text(format_quantity(counter.value, counter.unit)));
}

}  // namespace

std::string fact_title(const Fact& fact) {
  return escape_text(capitalised(fact.subject)) + " " + escape_text(fact.quantity);
}

std::optional<double> deviation(const Fact& fact) {
  if (!fact.value || !fact.published) return std::nullopt;
  const double off = (*fact.value - fact.published->value) / std::abs(fact.published->value);
  return std::isfinite(off) ? std::optional(off) : std::nullopt;
}

Table fact_table(const FactList& facts) {
  const bool bounded =
      std::any_of(facts.begin(), facts.end(), [](const Fact* f) { return f->bound.has_value(); });
  const bool published = std::any_of(facts.begin(), facts.end(),
                                     [](const Fact* f) { return f->published.has_value(); });
  std::vector<Table::Column> columns{{"Fact"}, {"Value", Align::right}, {"Interval"}};
  if (bounded) columns.push_back({"Bound"});
  if (published) columns.insert(columns.end(), {{"Published"}, {"Deviation", Align::right}});
  columns.insert(columns.end(), {{"Method"}, {"Repeats", Align::right}});
  Table table(std::move(columns));
  for (const Fact* fact : facts) {
    std::vector<std::string> row{fact_title(*fact), value_cell(*fact), interval_cell(*fact)};
    if (bounded) row.push_back(bound_cell(*fact));
    if (published) {
      row.push_back(published_cell(*fact));
      row.push_back(deviation_cell(*fact));
    }
    row.push_back(fact->method.empty() ? "–" : escape_text(fact->method));
    row.push_back(fact->value ? format_count(fact->repeats) : "–");
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<std::string> missing_facts(const FactList& facts) {
  std::vector<std::string> notes;
  for (const Fact* fact : facts) {
    if (fact->value) continue;
    notes.push_back(fmt::format("{} is missing: {}.", fact_title(*fact),
                                escape_text(without_full_stop(fact->reason))));
  }
  return notes;
}

std::string evidence_of(const FactList& facts) {
  std::string text;
  for (const Fact* fact : facts) {
    std::vector<std::string> parts;
    for (const Counter& counter : fact->counters) parts.push_back(counter_text(counter));
    for (const std::string& name : fact->evidence) parts.push_back(code(name));
    if (parts.empty()) continue;
    text += fmt::format("- **{}** ({}): {}\n", fact_title(*fact), code(fact->id),
                        fmt::join(parts, ", "));
  }
  return text;
}

}  // namespace fathom::reports
