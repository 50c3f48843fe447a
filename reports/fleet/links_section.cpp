#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/fleet/sections.h"
#include "reports/plot.h"
#include "reports/scale.h"
#include "results/format.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom::fleet {

using reports::Align;
using reports::Table;

namespace {

/// A pair's link is not slower than others' by this much for nothing: pairs of one kind are within
/// a few percent of each other.
constexpr double slow_pair = 0.95;

std::string axis_text(const Entry& entry, const char* name) {
  const AxisValue* value = find_axis(entry, name);
  return value == nullptr ? "?" : format_axis_value(name, *value);
}

/// One pair of GPUs of a host, by one engine, in one direction.
struct Pair {
  const std::string* host;
  const Entry* entry;
};

/// The slowest pair of each kind of transfer over all hosts, against the median of them all: a
/// median for each host, as the facts have it, does not show a single bad link.
void write_pairs(FleetWriting& to) {
  std::map<std::pair<std::string, std::string>, std::vector<Pair>> kinds;
  for (const HostLinks& links : to.fleet.links)
    for (const Entry* entry : select(links.document.entries, {{"link", "peer"}}))
      if (entry->metric.value)
        kinds[{axis_text(*entry, "engine"), axis_text(*entry, "direction")}].push_back(
            {&links.host, entry});
  Table table({{"Engine"},
               {"Direction"},
               {"Pairs", Align::right},
               {"Median", Align::right},
               {"Slowest", Align::right},
               {"Of the median", Align::right},
               {"Of bound", Align::right},
               {"Which"}});
  std::vector<std::string> slow;
  for (const auto& [kind, pairs] : kinds) {
    std::vector<double> values;
    for (const Pair& pair : pairs) values.push_back(*pair.entry->metric.value);
    const double typical = median(values);
    const Pair& worst = *std::ranges::min_element(
        pairs, {}, [](const Pair& pair) { return *pair.entry->metric.value; });
    const Metric& metric = worst.entry->metric;
    const std::string which =
        fmt::format("{} GPU {} to {}", *worst.host, axis_text(*worst.entry, "from GPU"),
                    axis_text(*worst.entry, "to GPU"));
    const auto& bound = worst.entry->bound;
    table.add_row({reports::escape_text(kind.first), reports::escape_text(kind.second),
                   std::to_string(pairs.size()), reports::quantity(typical, metric.unit),
                   reports::quantity(metric.value, metric.unit),
                   fmt::format("{:.1f} %", 100 * *metric.value / typical),
                   bound ? fmt::format("{:.1f} %", 100 * *metric.value / bound->value) : "–",
                   reports::escape_text(which)});
    if (*metric.value < slow_pair * typical)
      slow.push_back(fmt::format("{} ({}, {})", which, kind.first, kind.second));
  }
  if (!slow.empty())
    to.page.paragraph(
        reports::escape_text(fmt::format("Slower than the median pair by more than {:.0f} %: {}.",
                                         100 * (1 - slow_pair), fmt::join(slow, "; "))));
  to.page.table("The slowest pair of GPUs", table);
}

}  // namespace

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
  std::size_t without_bound = 0;
  for (const std::string& id : order) {
    const Row& row = rows.at(id);
    if (row.values.empty()) {
      missing[row.reason].push_back(row.quantity);
      continue;
    }
    const double typical = median(row.values);
    if (!row.bound && row.unit == "B/s" && row.subject != "host memory") ++without_bound;
    table.add_row({reports::escape_text(row.subject), reports::escape_text(row.quantity),
                   std::to_string(row.values.size()), reports::quantity(typical, row.unit),
                   reports::quantity(row.worst, row.unit), reports::escape_text(row.worst_host),
                   reports::quantity(row.bound, row.unit),
                   row.bound ? fmt::format("{:.1f} %", 100 * typical / *row.bound) : "–"});
  }
  to.page.table("What links carry: the best size or the median pair of each host", table);
  if (without_bound > 0)
    to.page.paragraph(fmt::format(
        "{} bandwidths between GPUs have no bound beside them: the driver (NVML) names no NVLinks "
        "here, as in some containers and virtual machines, or the switches may do a part of the "
        "work.",
        without_bound));
  write_pairs(to);
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
