#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "fleet/sections.h"

namespace fathom::fleet {
namespace {

using reports::Table;

constexpr std::size_t most_rows = 20;  ///< each has its name beside it

/// What stands before the second slash of a metric's name: metrics of one question.
std::string family_of(const std::string& name) {
  const auto first = name.find('/');
  if (first == std::string::npos) return name;
  const std::string second = name.substr(first + 1, name.find('/', first + 1) - first - 1);
  // "size:64KiB", "type:float": the axis, not its value.
  return name.substr(0, first + 1) + second.substr(0, second.find(':'));
}

/// The worst metric of one row, a host or a card.
struct RowGap {
  std::string family;  ///< empty: it has no metric
  double gap = 0;
};

/// Of a single host each card has a row.
std::string row_of(const Fleet& fleet, const GpuSummary& summary) {
  return fleet.hosts() == 1 ? fmt::format("GPU {}", summary.gpu) : summary.host;
}

std::map<std::string, RowGap> row_gaps(const Fleet& fleet, const Outliers& outliers) {
  std::vector<std::string> families;
  for (const MetricName& metric : fleet.metrics) families.push_back(family_of(metric.name));
  std::map<std::string, RowGap> rows;
  for (std::size_t g = 0; g < outliers.groups.size(); ++g) {
    std::vector<double> usual(fleet.metrics.size());  // 0: none
    for (const Distribution& d : outliers.distributions)
      if (d.group == g) usual[d.metric] = d.median;
    for (const std::size_t gpu : outliers.groups[g].members) {
      RowGap& row = rows[row_of(fleet, fleet.gpus[gpu].summary)];
      const auto& figures = fleet.gpus[gpu].figures;
      for (std::size_t m = 0; m < figures.size(); ++m) {
        const Reading figure = figures[m].together ? figures[m].together : figures[m].alone;
        if (!(usual[m] > 0) || !figure || !(*figure > 0)) continue;
        const double ratio = *figure / usual[m];
        const double gap = fleet.metrics[m].better == Better::higher ? 1 / ratio - 1 : ratio - 1;
        if (row.family.empty() || gap > row.gap || (gap == row.gap && families[m] < row.family))
          row = {families[m], gap};
      }
    }
  }
  return rows;
}

}  // namespace

void write_heat_map(FleetWriting& to) {
  if (to.outliers.distributions.empty()) return;
  const bool cards = to.fleet.hosts() == 1;
  to.page.heading(2, cards ? "Cards and metrics" : "Hosts and metrics", "heat-map");
  const auto rows = row_gaps(to.fleet, to.outliers);
  std::vector<std::pair<std::string, RowGap>> order(rows.begin(), rows.end());
  std::ranges::stable_sort(order, std::greater{},
                           [](const auto& row) { return std::max(0.0, row.second.gap); });
  const std::size_t shown = std::min(most_rows, order.size());
  const char* axis = cards ? "card" : "host";
  Table table({{cards ? "Card" : "Host"}, {"Worst family"}, right("Worse by")});
  for (std::size_t i = 0; i < shown; ++i)
    if (const auto& [name, row] = order[i]; !row.family.empty())
      table.add_row({reports::escape_text(name), reports::code(row.family), gap_text(row.gap)});
  to.page.paragraph(fmt::format(
      "How much the worst metric of a family is worse, on {}, than the median of the cards of its "
      "kind. Of many metrics one is worse by chance: named cards are above.{}",
      cards ? "each card" : "the worst card of a host",
      shown < order.size()
          ? fmt::format(" The {} {}s with the largest gaps of {}.", shown, axis, order.size())
          : ""));
  to.page.table(cards ? "The worst family of each card" : "The worst family of each host", table);
}

}  // namespace fathom::fleet
