#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reports/columns.h"
#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::reports {
namespace {

/// All comparisons of one probe with one opponent.
struct Duel {
  std::string probe, opponent;
  std::vector<double> ratios;
};

std::vector<Duel> duels(const Document& document) {
  std::vector<Duel> found;
  for (const Entry& entry : document.entries) {
    for (const Opponent& opponent : entry.opponents) {
      if (!opponent.ratio) continue;
      auto duel = std::find_if(found.begin(), found.end(), [&](const Duel& other) {
        return other.probe == entry.probe && other.opponent == opponent.name;
      });
      if (duel == found.end()) {
        found.push_back({entry.probe, opponent.name, {}});
        duel = found.end() - 1;
      }
      duel->ratios.push_back(*opponent.ratio);
    }
  }
  return found;
}

void write_duels(Writing& to) {
  Table table({{"Probe"},
               {"Opponent"},
               {"Comparisons", Align::right},
               {"Ahead in", Align::right},
               {"Lowest ratio", Align::right},
               {"Median ratio", Align::right},
               {"Highest ratio", Align::right}});
  for (const Duel& duel : duels(to.document)) {
    const auto [low, high] = std::minmax_element(duel.ratios.begin(), duel.ratios.end());
    const auto ahead = std::count_if(duel.ratios.begin(), duel.ratios.end(),
                                     [](double ratio) { return ratio > 1; });
    table.add_row({escape_text(duel.probe), escape_text(duel.opponent),
                   std::to_string(duel.ratios.size()), std::to_string(ahead),
                   fmt::format("{:.3f}", *low), fmt::format("{:.3f}", median(duel.ratios)),
                   fmt::format("{:.3f}", *high)});
  }
  to.page.table("Each opponent over all its comparisons", table);
}

/// Ratios with their interval's decimals: what matters is how far they are from 1.
std::vector<std::string> four_decimals(const std::vector<std::optional<double>>& ratios) {
  std::vector<std::string> cells;
  for (const auto& ratio : ratios) cells.push_back(ratio ? fmt::format("{:.4f}", *ratio) : "–");
  return cells;
}

/// Every comparison of a probe; a row is an entry and one of its opponents.
void write_comparisons(Writing& to, const std::string& probe, const EntryList& entries) {
  EntryList rows;
  std::vector<std::optional<double>> ratios, theirs;
  Column names{"entry", "", Align::left, {}}, opponents{"opponent", "", Align::left, {}},
      intervals{"interval of the ratio", "", Align::right, {}};
  for (const Entry* entry : entries) {
    for (const Opponent& opponent : entry->opponents) {
      rows.push_back(entry);
      names.cells.push_back(code(entry->name));
      opponents.cells.push_back(escape_text(opponent.name));
      theirs.push_back(opponent.value);
      ratios.push_back(opponent.ratio);
      intervals.cells.push_back(opponent.ratio_interval
                                    ? fmt::format("{:.4f} to {:.4f}", opponent.ratio_interval->low,
                                                  opponent.ratio_interval->high)
                                    : "–");
    }
  }
  std::string constant;
  const std::vector<Column> columns{names,
                                    make_column("metric", rows),
                                    opponents,
                                    metric_column("opponent's", rows, theirs),
                                    {"ratio", "", Align::right, four_decimals(ratios)},
                                    intervals};
  const Table table = make_table(columns, constant);
  to.page.table("Comparisons of " + escape_text(probe), table, constant);
}

}  // namespace

void write_bounds(Writing& to) {
  to.page.heading(2, "Measured against bound", "bounds");
  Table table({{"Probe"},
               {"Metric"},
               {"Measured", Align::right},
               {"Bound", Align::right},
               {"Share (%)", Align::right},
               {"Source of the bound"},
               {"Entry"}});
  for (const ProbeSummary& summary : probes_of(to.document)) {
    const std::string& probe = summary.name;
    const EntryList closest = closest_to_bound(entries_of(to.document, probe));
    for (const Entry* entry : closest) {
      const std::string& unit = entry->metric.unit;
      table.add_row({escape_text(probe), escape_text(spaced(entry->metric.name)),
                     quantity(entry->metric.value, unit) +
                         (entry->verdict.status == VerdictStatus::noisy ? " ~" : ""),
                     quantity(entry->bound->value, unit),
                     fmt::format("{:.1f}", *share_of_bound(*entry) * 100),
                     escape_text(entry->bound->source), entry_link(*entry)});
    }
  }
  if (table.rows() == 0) {
    to.page.paragraph("No entry has both a figure and a bound.");
    return;
  }
  to.page.paragraph(
      "The entry of each probe and metric that comes closest to what physics allows.");
  to.page.table("The closest to its bound", table);
}

void write_opponents(Writing& to) {
  const bool any = std::any_of(to.document.entries.begin(), to.document.entries.end(),
                               [](const Entry& entry) { return !entry.opponents.empty(); });
  if (!any) return;
  to.page.heading(2, "Against other implementations", "opponents");
  to.page.paragraph(
      "Each was timed alternately with the entry, on the same data. The ratio is the median of the "
      "pairs; above 1 the entry is better.");
  write_duels(to);
  for (const ProbeSummary& probe : probes_of(to.document)) {
    to.page.explore(explore_probe(probe.name));
    write_comparisons(to, probe.name, entries_of(to.document, probe.name));
  }
}

}  // namespace fathom::reports
