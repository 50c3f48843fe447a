#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

using FactList = std::vector<const Fact*>;

std::string title(const Fact& fact) {
  return escape_text(capitalised(fact.subject)) + " " + escape_text(fact.quantity);
}

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

Table table_of(const FactList& facts) {
  const bool bounded =
      std::any_of(facts.begin(), facts.end(), [](const Fact* f) { return f->bound.has_value(); });
  std::vector<Table::Column> columns{{"Fact"}, {"Value", Align::right}, {"Interval"}};
  if (bounded) columns.push_back({"Bound"});
  columns.insert(columns.end(), {{"Published"}, {"Method"}, {"Repeats", Align::right}});
  Table table(std::move(columns));
  for (const Fact* fact : facts) {
    std::vector<std::string> row{title(*fact), value_cell(*fact), interval_cell(*fact)};
    if (bounded) row.push_back(bound_cell(*fact));
    row.push_back(published_cell(*fact));
    row.push_back(fact->method.empty() ? "–" : escape_text(fact->method));
    row.push_back(fact->value ? format_count(fact->repeats) : "–");
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<std::string> missing(const FactList& facts) {
  std::vector<std::string> notes;
  for (const Fact* fact : facts) {
    if (fact->value) continue;
    notes.push_back(fmt::format("{} is missing: {}.", title(*fact),
                                escape_text(without_full_stop(fact->reason))));
  }
  return notes;
}

std::string counter_text(const Counter& counter) {
  const std::string name = escape_text(spaced(counter.role));
  if (!counter.value) {
    return fmt::format("{} is missing ({})", name, escape_text(without_full_stop(counter.reason)));
  }
  return fmt::format("{} {}", name, escape_text(format_quantity(counter.value, counter.unit)));
}

/// What each fact rests on: its counters and its entries.
std::string evidence(const FactList& facts) {
  std::string text;
  for (const Fact* fact : facts) {
    std::vector<std::string> parts;
    for (const Counter& counter : fact->counters) parts.push_back(counter_text(counter));
    for (const std::string& name : fact->evidence) parts.push_back(code(name));
    if (parts.empty()) continue;
    text +=
        fmt::format("- **{}** ({}): {}\n", title(*fact), code(fact->id), fmt::join(parts, ", "));
  }
  return text;
}

void write_of_probe(Writing& to, const std::string& probe, const FactList& facts) {
  to.page.table(fmt::format("{}: {}", escape_text(probe), counted(facts.size(), "fact", "facts")),
                table_of(facts), "", facts.size());  // never folded: they are what was asked for
  to.page.list(missing(facts));
  if (const std::string text = evidence(facts); !text.empty()) {
    to.page.folded("Evidence: the counters and entries that each fact rests on", text);
  }
}

/// Levels that the picture shows, by the part of a fact's id before the point, nearest first.
constexpr std::array levels{"registers", "shared", "l1", "dsmem", "l2", "dram", "peer", "host"};

const Fact* find_fact(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.facts.begin(), document.facts.end(),
                                  [&](const Fact& fact) { return fact.id == id && fact.value; });
  return found == document.facts.end() ? nullptr : &*found;
}

/// From facts by the names `<level>.size`, `<level>.latency` and `<level>.bandwidth`.
std::vector<LevelRow> hierarchy(const Document& document) {
  std::vector<LevelRow> rows;
  for (const std::string level : levels) {
    LevelRow row;
    const auto figure = [&](const char* quantity) -> std::string {
      const Fact* fact = find_fact(document, level + "." + quantity);
      if (!fact) return "–";
      if (row.name.empty()) row.name = capitalised(fact->subject);
      return format_quantity(fact->value, fact->unit);
    };
    // First, since it names the level alone: a size may hold for one setting of it.
    row.latency = figure("latency");
    row.size = figure("size");
    row.bandwidth = figure("bandwidth");
    if (!row.name.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

void write_hierarchy(Writing& to) {
  const std::vector<LevelRow> rows = hierarchy(to.document);
  if (rows.size() < 2 || !to.gnuplot_problem.empty()) return;
  to.show(draw_hierarchy(rows, to.folder, to.stem("hierarchy"), to.document.source));
}

}  // namespace

void write_facts(Writing& to) {
  const std::vector<Fact>& facts = to.document.facts;
  if (facts.empty()) return;
  to.page.heading(2, "Facts", "facts");
  to.page.paragraph(
      "What the probes conclude of this GPU, each with its confidence interval and, where others "
      "have stated the same quantity, their figure and its source.");
  write_hierarchy(to);
  std::vector<std::string> probes;
  for (const Fact& fact : facts) {
    if (std::find(probes.begin(), probes.end(), fact.probe) == probes.end()) {
      probes.push_back(fact.probe);
    }
  }
  for (const std::string& probe : probes) {
    FactList own;
    for (const Fact& fact : facts) {
      if (fact.probe == probe) own.push_back(&fact);
    }
    write_of_probe(to, probe, own);
  }
}

}  // namespace fathom::reports
