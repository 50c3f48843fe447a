#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/fleet/sections.h"
#include "reports/plot.h"
#include "reports/scale.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

using reports::Align;
using reports::Table;

constexpr std::size_t most_rows = 20;      ///< hosts of the heat map: each has its name beside it
constexpr std::size_t most_drawn = 6;      ///< metrics whose distribution is drawn
constexpr std::size_t most_tabled = 1000;  ///< metrics of a table

Source source_of(const Fleet& fleet) { return fleet.replay() ? Source::replay : Source::measured; }

/// What stands before the second slash of a metric's name: metrics of one question.
std::string family_of(const std::string& name) {
  const auto first = name.find('/');
  if (first == std::string::npos) return name;
  const std::string second = name.substr(first + 1, name.find('/', first + 1) - first - 1);
  // "size:64KiB", "type:float": the axis, not its value.
  return name.substr(0, first + 1) + second.substr(0, second.find(':'));
}

/// A point of a picture made of figures that are none of one GPU's.
Entry point(std::string name, Axes axes, double percent) {
  Entry entry;
  entry.name = std::move(name);
  entry.probe = "fleet";
  entry.axes = std::move(axes);
  entry.metric = {"worse by", "%", Better::lower, percent};
  return entry;
}

void show(FleetWriting& to, const View& view, const std::vector<Entry>& entries,
          const std::string& stem) {
  if (!to.pictures || entries.empty()) return;
  if (const auto picture = draw_plot(view, entries, to.folder, stem, source_of(to.fleet)))
    to.page.picture(picture->light, picture->dark, picture->alt);
}

/// Median of the level of each metric in each group: what a card's gap is against.
std::map<std::pair<std::size_t, std::size_t>, double> medians_of(const Outliers& outliers) {
  std::map<std::pair<std::size_t, std::size_t>, double> medians;
  for (const Distribution& d : outliers.distributions) medians[{d.group, d.metric}] = d.median;
  return medians;
}

struct HostGap {
  double worst = 0;
  std::map<std::string, double> families;  ///< the worst card's worst metric
};

std::map<std::string, HostGap> host_gaps(const Fleet& fleet, const Outliers& outliers) {
  const auto medians = medians_of(outliers);
  std::vector<std::string> families;
  for (const MetricName& metric : fleet.metrics) families.push_back(family_of(metric.name));
  std::map<std::string, HostGap> hosts;
  for (std::size_t g = 0; g < outliers.groups.size(); ++g) {
    std::vector<std::optional<double>> usual(fleet.metrics.size());
    for (std::size_t m = 0; m < usual.size(); ++m)
      if (const auto found = medians.find({g, m}); found != medians.end() && found->second > 0)
        usual[m] = found->second;
    for (const std::size_t gpu : outliers.groups[g].members) {
      HostGap& host = hosts[fleet.gpus[gpu].summary.host];
      const auto& figures = fleet.gpus[gpu].figures;
      std::map<std::string_view, double> worst;
      for (std::size_t m = 0; m < figures.size(); ++m) {
        const Figure figure = figures[m].together ? figures[m].together : figures[m].alone;
        if (!usual[m] || !figure || !(*figure > 0)) continue;
        const double ratio = *figure / *usual[m];
        const double gap = fleet.metrics[m].better == Better::higher ? 1 / ratio - 1 : ratio - 1;
        const auto [at, is_new] = worst.try_emplace(families[m], gap);
        if (!is_new) at->second = std::max(at->second, gap);
      }
      for (const auto& [family, gap] : worst) {
        const auto [at, is_new] = host.families.try_emplace(std::string(family), gap);
        if (!is_new) at->second = std::max(at->second, gap);
        host.worst = std::max(host.worst, gap);
      }
    }
  }
  return hosts;
}

}  // namespace

void write_heat_map(FleetWriting& to) {
  if (to.outliers.distributions.empty()) return;
  to.page.heading(2, "Hosts and metrics", "heat-map");
  const auto hosts = host_gaps(to.fleet, to.outliers);
  std::vector<std::pair<std::string, const HostGap*>> order;
  for (const auto& [name, gap] : hosts) order.emplace_back(name, &gap);
  std::ranges::stable_sort(order, std::greater{}, [](const auto& h) { return h.second->worst; });
  const std::size_t shown = std::min(most_rows, order.size());
  // Names of families do not fit under columns: numbers do.
  std::map<std::string, std::int64_t> numbers;
  for (const auto& [name, gap] : hosts)
    for (const auto& [family, value] : gap.families) numbers[family] = 0;
  std::int64_t next = 0;
  for (auto& [family, number] : numbers) number = ++next;
  std::vector<Entry> entries;
  Table table({{"Host"}, {"Worst family"}, {"Worse by", Align::right}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [host, gap] = order[i];
    std::string worst_family;
    for (const auto& [family, value] : gap->families) {
      if (worst_family.empty() || value > gap->families.at(worst_family)) worst_family = family;
      entries.push_back(point(host + "/" + family, {{"host", host}, {"family", numbers.at(family)}},
                              100 * value));
    }
    if (!worst_family.empty())
      table.add_row({reports::escape_text(host), reports::code(worst_family),
                     gap_text(gap->families.at(worst_family))});
  }
  to.page.paragraph(fmt::format(
      "How much the worst metric of a family is worse, on the worst card of a host, than the "
      "median of the cards of its kind.{}",
      shown < order.size()
          ? fmt::format(" The {} hosts with the largest gaps of {}.", shown, order.size())
          : ""));
  View view;
  view.kind = View::Kind::heat_map;
  view.title = "Worst card of each host";
  view.x = "family";
  view.x_label = "Family of metrics, by its number";
  view.y_axis = "host";
  view.y_label = "Worse by";
  show(to, view, entries, "hosts");
  std::vector<std::string> legend;
  for (const auto& [family, number] : numbers)
    legend.push_back(fmt::format("{} {}", number, reports::code(family)));
  to.page.paragraph(fmt::format("Families: {}.", fmt::join(legend, ", ")));
  to.page.table("The worst family of each host", table);
}

void write_distributions(FleetWriting& to) {
  if (to.outliers.distributions.empty()) return;
  to.page.heading(2, "Distributions", "distributions");
  std::vector<const Distribution*> order;
  for (const Distribution& d : to.outliers.distributions) order.push_back(&d);
  std::ranges::stable_sort(order, std::greater{}, [](const Distribution* d) { return d->spread; });
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < std::min(most_drawn, order.size()); ++i) {
    const std::string& name = to.fleet.metrics[order[i]->metric].name;
    for (std::size_t p = 0; p < std::size(distribution_points); ++p)
      entries.push_back(point(fmt::format("{}/{}", name, p),
                              {{"metric", name}, {"share", 100 * distribution_points[p]}},
                              100 * order[i]->quantiles[p]));
  }
  View view;
  view.kind = View::Kind::plot;
  view.title = "The metrics in which cards differ most";
  view.x = "share";
  view.x_label = "share of the cards (%)";
  view.y_label = "Worse than the median by";
  view.y_from_zero = false;
  view.series = {"metric"};
  show(to, view, entries, "distributions");
  Table table({{"Metric"},
               {"Cards", Align::right},
               {"Median", Align::right},
               {"Spread", Align::right},
               {"Best 1 %", Align::right},
               {"Worst 1 %", Align::right},
               {"Worst 0.1 %", Align::right}});
  for (std::size_t i = 0; i < std::min(most_tabled, order.size()); ++i) {
    const Distribution& d = *order[i];
    const MetricName& metric = to.fleet.metrics[d.metric];
    table.add_row({reports::code(metric.name), std::to_string(d.cards),
                   reports::quantity(d.median, metric.unit), gap_text(d.spread),
                   gap_text(d.quantiles[1]), gap_text(d.quantiles[7]), gap_text(d.quantiles[8])});
  }
  to.page.table(
      "By spread, a standard deviation between cards; a figure below 0 is better than the "
      "median",
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
      "PCIe "
      "switches and the host's memory; below 0 it was better together.");
  std::vector<std::pair<std::size_t, const Loss*>> order;
  for (auto& [metric, loss] : losses) {
    loss.typical = median(loss.values);
    order.emplace_back(metric, &loss);
  }
  std::ranges::stable_sort(order, std::greater{}, [](const auto& l) { return l.second->typical; });
  Table table({{"Metric"},
               {"Cards", Align::right},
               {"Typical loss", Align::right},
               {"Largest loss", Align::right},
               {"Of"}});
  for (const auto& [metric, loss] : order)
    table.add_row({reports::code(to.fleet.metrics[metric].name),
                   std::to_string(loss->values.size()), gap_text(loss->typical),
                   gap_text(loss->worst),
                   reports::escape_text(name_of(to.fleet.gpus[loss->worst_gpu].summary))});
  to.page.table("Loss together, the largest first", table);
}

}  // namespace fathom::fleet
