#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/statistics.h"
#include "results/text.h"

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

void write_duels(PageContext& to) {
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

}  // namespace

void write_bounds(PageContext& to) {
  to.page.heading(2, "Measured against bound", "bounds");
  Table table({{"Probe"},
               {"Metric"},
               {"Measured", Align::right},
               {"Bound", Align::right},
               {"Share (%)", Align::right}});
  for (const ProbeSummary& summary : probes_of(to.document)) {
    const std::string& probe = summary.name;
    const EntryList closest = closest_to_bound(entries_of(to.document, probe));
    for (const Entry* entry : closest) {
      const std::string& unit = entry->metric.unit;
      table.add_row({escape_text(probe),
                     entry_link(*entry, escape_text(spaced(entry->metric.name))),
                     quantity(entry->metric.value, unit) +
                         (entry->verdict.status == VerdictStatus::noisy ? " ~" : ""),
                     quantity(entry->bound->value, unit),
                     fmt::format("{:.1f}", *share_of_bound(*entry) * 100)});
    }
  }
  if (table.rows() == 0) {
    to.page.paragraph("No entry has both a figure and a bound.");
    return;
  }
  to.page.paragraph(
      "The entry of each probe and metric that comes closest to what physics allows; it names "
      "where its bound comes from.");
  to.page.table("The closest to its bound", table);
}

void write_opponents(PageContext& to) {
  const bool any = std::any_of(to.document.entries.begin(), to.document.entries.end(),
                               [](const Entry& entry) { return !entry.opponents.empty(); });
  if (!any) return;
  to.page.heading(2, "Against other implementations", "opponents");
  to.page.paragraph(
      "Each was timed alternately with the entry, on the same data. The ratio is the median of the "
      "pairs; above 1 the entry is better. Each entry of the HTML page has its own ratios, with "
      "their intervals.");
  write_duels(to);
}

}  // namespace fathom::reports
