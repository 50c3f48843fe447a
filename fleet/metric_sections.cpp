#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "fleet/sections.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

/// Its model, and the settings in which it differs from others of that model.
std::string kind_of(const std::vector<Group>& groups, const Group& group) {
  std::string kind = group.model;
  for (std::string_view rest = group.settings; !rest.empty();) {
    const std::size_t end = rest.find(", ");
    const std::string setting(rest.substr(0, end));
    rest = end == rest.npos ? "" : rest.substr(end + 2);
    const auto has_other = [&](const Group& other) {
      return other.model == group.model &&
             (", " + other.settings + ", ").find(", " + setting + ", ") == std::string::npos;
    };
    if (std::ranges::any_of(groups, has_other)) kind += ", " + setting;
  }
  return kind;
}

}  // namespace

void write_distributions(FleetWriting& to) {
  if (to.outliers.distributions.empty()) return;
  to.page.heading(2, "Distributions", "distributions");
  to.page.paragraph(
      "How much worse than the median the cards are, from the best to the worst: at 99 stands the "
      "card than which 99 % of the cards are no worse.");
  const auto& groups = to.outliers.groups;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<const Distribution*> order;
    for (const Distribution& d : to.outliers.distributions)
      if (d.group == group) order.push_back(&d);
    std::ranges::stable_sort(order, std::greater{}, [](const auto* d) { return d->spread; });
    constexpr std::size_t most = 1000;
    order.resize(std::min(most, order.size()));
    Table table({left("Metric"), right("Cards"), right("Median"), right("Spread"),
                 right("Best 1 %"), right("Worst 1 %"), right("Worst 0.1 %")});
    for (const Distribution* d : order) {
      const MetricName& metric = to.fleet.metrics[d->metric];
      table.add_row({code(metric.name), std::to_string(d->cards), quantity(d->median, metric.unit),
                     gap_text(d->spread), gap_text(d->quantiles[1]), gap_text(d->quantiles[7]),
                     gap_text(d->quantiles[8])});
    }
    to.page.table((groups.size() < 2 ? "" : escape_text(kind_of(groups, groups[group])) + ": ") +
                      "By spread, a standard deviation between cards; a figure below 0 is better "
                      "than the median",
                  table);
  }
}

void write_losses(FleetWriting& to) {
  struct Loss {
    std::size_t metric = 0;
    std::vector<double> values{};
    std::size_t worst_gpu = 0;
    double worst = -1e300;
    double typical = 0;
  };
  std::vector<Loss> losses;
  for (std::size_t m = 0; m < to.fleet.metrics.size(); ++m) {
    const bool higher = to.fleet.metrics[m].better == Better::higher;
    Loss of{m};
    for (std::size_t gpu = 0; gpu < to.fleet.gpus.size(); ++gpu) {
      const MetricFigures f = to.fleet.gpus[gpu].at(m);
      if (!f.alone || !f.together || !(*f.alone > 0) || !(*f.together > 0)) continue;
      of.values.push_back(higher ? 1 - *f.together / *f.alone : *f.together / *f.alone - 1);
      if (of.values.back() > of.worst) of.worst = of.values.back(), of.worst_gpu = gpu;
    }
    if (of.values.empty()) continue;
    of.typical = median(of.values);
    losses.push_back(std::move(of));
  }
  if (losses.empty()) return;
  to.page.heading(2, "Alone and together", "together");
  to.page.paragraph(
      "Each GPU by itself, its host's others idle, then all of the host at once. They share power, "
      "PCIe switches and the host's memory; below 0 it was better together.");
  std::ranges::stable_sort(losses, std::greater{}, &Loss::typical);
  Table table(
      {left("Metric"), right("Cards"), right("Typical loss"), right("Largest loss"), left("Of")});
  for (const Loss& loss : losses)
    table.add_row({code(to.fleet.metrics[loss.metric].name), std::to_string(loss.values.size()),
                   gap_text(loss.typical), gap_text(loss.worst),
                   escape_text(name_of(to.fleet.gpus[loss.worst_gpu].summary))});
  to.page.table("Loss together, the largest first", table);
}

}  // namespace fathom::fleet
