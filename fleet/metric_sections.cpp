#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fleet/sections.h"
#include "reports/scale.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

using reports::Table;

constexpr std::size_t most_tabled = 1000;  ///< metrics of a table

/// The kinds of cards, where there are several: their numbers stand beside the metrics.
void write_kinds(FleetWriting& to) {
  const auto& groups = to.outliers.groups;
  if (groups.size() < 2) return;
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool model_alone = std::ranges::count(groups, groups[i].model, &Group::model) == 1;
    kinds.push_back(reports::escape_text(fmt::format(
        "Kind {}: {}{}", i + 1, groups[i].model, model_alone ? "" : ", " + groups[i].settings)));
  }
  to.page.list(kinds);
}

}  // namespace

void write_distributions(FleetWriting& to) {
  if (to.outliers.distributions.empty()) return;
  to.page.heading(2, "Distributions", "distributions");
  std::vector<const Distribution*> order;
  for (const Distribution& d : to.outliers.distributions) order.push_back(&d);
  std::ranges::stable_sort(order, std::greater{}, [](const Distribution* d) { return d->spread; });
  to.page.paragraph(
      "How much worse than the median the cards are, from the best to the worst: at 99 stands the "
      "card than which 99 % of the cards are no worse.");
  write_kinds(to);
  const bool kinds = to.outliers.groups.size() > 1;
  order.resize(std::min(most_tabled, order.size()));
  std::vector<Table::Column> header{left("Metric"),      right("Cards"),    right("Median"),
                                    right("Spread"),     right("Best 1 %"), right("Worst 1 %"),
                                    right("Worst 0.1 %")};
  if (kinds) header.push_back(right("Kind"));
  Table table(header);
  for (const Distribution* d : order) {
    const MetricName& metric = to.fleet.metrics[d->metric];
    std::vector<std::string> row{reports::code(metric.name),
                                 std::to_string(d->cards),
                                 reports::quantity(d->median, metric.unit),
                                 gap_text(d->spread),
                                 gap_text(d->quantiles[1]),
                                 gap_text(d->quantiles[7]),
                                 gap_text(d->quantiles[8])};
    if (kinds) row.push_back(std::to_string(d->group + 1));
    table.add_row(std::move(row));
  }
  to.page.table(
      "By spread, a standard deviation between cards; a figure below 0 is better than the median",
      table);
}

void write_losses(FleetWriting& to) {
  struct Loss {
    std::vector<double> values;
    std::size_t worst_gpu = 0;
    double worst = -1e300;
    double typical = 0;
  };
  std::map<std::size_t, Loss> losses;
  for (std::size_t gpu = 0; gpu < to.fleet.gpus.size(); ++gpu) {
    const auto& figures = to.fleet.gpus[gpu].figures;
    for (std::size_t m = 0; m < figures.size(); ++m) {
      const MetricFigures& f = figures[m];
      if (!f.alone || !f.together || !(*f.alone > 0) || !(*f.together > 0)) continue;
      const bool higher = to.fleet.metrics[m].better == Better::higher;
      const double loss = higher ? 1 - *f.together / *f.alone : *f.together / *f.alone - 1;
      Loss& of = losses[m];
      of.values.push_back(loss);
      if (loss > of.worst) of.worst = loss, of.worst_gpu = gpu;
    }
  }
  if (losses.empty()) return;
  to.page.heading(2, "Alone and together", "together");
  to.page.paragraph(
      "Each GPU by itself, its host's others idle, then all of the host at once. They share power, "
      "PCIe switches and the host's memory; below 0 it was better together.");
  std::vector<std::pair<std::size_t, const Loss*>> order;
  for (auto& [metric, loss] : losses) {
    loss.typical = median(loss.values);
    order.emplace_back(metric, &loss);
  }
  std::ranges::stable_sort(order, std::greater{}, [](const auto& l) { return l.second->typical; });
  Table table(
      {left("Metric"), right("Cards"), right("Typical loss"), right("Largest loss"), left("Of")});
  for (const auto& [metric, loss] : order)
    table.add_row({reports::code(to.fleet.metrics[metric].name),
                   std::to_string(loss->values.size()), gap_text(loss->typical),
                   gap_text(loss->worst),
                   reports::escape_text(name_of(to.fleet.gpus[loss->worst_gpu].summary))});
  to.page.table("Loss together, the largest first", table);
}

}  // namespace fathom::fleet
