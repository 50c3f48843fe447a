#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/fleet/sections.h"
#include "reports/plot.h"
#include "reports/scale.h"
#include "results/statistics.h"

namespace fathom::fleet {

using reports::Align;
using reports::Table;

void write_links(FleetWriting& to) {
  if (to.fleet.links.empty()) return;
  to.page.heading(2, "Links", "links");
  struct Row {
    std::string subject, quantity, unit, reason;
    Better better = Better::higher;
    std::vector<double> values;
    std::optional<double> worst, bound;
    std::string worst_host;
  };
  std::vector<std::string> order;
  std::map<std::string, Row> rows;
  for (const HostLinks& links : to.fleet.links) {
    for (const Fact& fact : links.document.facts) {
      const auto [at, is_new] = rows.try_emplace(fact.id);
      Row& row = at->second;
      if (is_new) {
        order.push_back(fact.id);
        row = {fact.subject, fact.quantity, fact.unit, fact.reason, fact.better, {}, {}, {}, ""};
      }
      if (!fact.value) continue;
      row.values.push_back(*fact.value);
      if (fact.bound) row.bound = fact.bound->value;
      const bool worse = !row.worst || (fact.better == Better::higher ? *fact.value < *row.worst
                                                                      : *fact.value > *row.worst);
      if (worse) row.worst = fact.value, row.worst_host = links.host;
    }
  }
  Table table({{"Between"},
               {"What"},
               {"Hosts", Align::right},
               {"Median", Align::right},
               {"Worst", Align::right},
               {"On"},
               {"Bound", Align::right},
               {"Of bound", Align::right}});
  std::map<std::string, std::vector<std::string>> missing;
  for (const std::string& id : order) {
    const Row& row = rows.at(id);
    if (row.values.empty()) {
      missing[row.reason].push_back(row.quantity);
      continue;
    }
    const double typical = median(row.values);
    table.add_row({reports::escape_text(row.subject), reports::escape_text(row.quantity),
                   std::to_string(row.values.size()), reports::quantity(typical, row.unit),
                   reports::quantity(row.worst, row.unit), reports::escape_text(row.worst_host),
                   reports::quantity(row.bound, row.unit),
                   row.bound ? fmt::format("{:.1f} %", 100 * typical / *row.bound) : "–"});
  }
  to.page.table("What links carry: the best size or the median pair of each host", table);
  for (const auto& [reason, quantities] : missing)
    to.page.paragraph(reports::escape_text(
        fmt::format("Not measured ({}): {}.", fmt::join(quantities, ", "), reason)));
  constexpr std::size_t most_hosts = 4;
  for (std::size_t i = 0; i < std::min(most_hosts, to.fleet.links.size()); ++i) {
    const HostLinks& links = to.fleet.links[i];
    for (const ProbeSummary& probe : links.document.probes) {
      for (std::size_t v = 0; v < probe.views.size(); ++v) {
        View view = probe.views[v];
        if (view.kind == View::Kind::table) continue;
        view.title = fmt::format("{}: {}", links.host, view.title);
        const std::string stem = reports::slug(fmt::format("links-{}-{}", links.host, v));
        if (!to.pictures) continue;
        if (const auto picture =
                draw_plot(view, links.document.entries, to.folder, stem, links.document.source))
          to.page.picture(picture->light, picture->dark, picture->alt);
      }
    }
  }
}

}  // namespace fathom::fleet
