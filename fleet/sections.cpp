#include "fleet/sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "reports/scale.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

using reports::code;
using reports::escape_text;
using reports::Page;
using reports::quantity;
using reports::Table;

constexpr std::size_t most_worst = 10;
constexpr std::size_t most_listed = 200;  ///< rows of a table of cards or files

/// A column of text, and one of figures.
Table::Column left(std::string header) { return {std::move(header)}; }
Table::Column right(std::string header) { return {std::move(header), reports::Align::right}; }

/// What a table that ends early says.
void write_rest(Page& page, std::size_t all) {
  if (all > most_listed)
    page.paragraph(fmt::format("And {} more: all are in `fleet.json`.", all - most_listed));
}

std::string share(double value, const std::optional<double>& of) {
  return of ? fmt::format("{:.1f} %", 100 * value / *of) : "–";
}

/// Values of many cards or hosts, and whose is the worst of them.
struct Pool {
  std::vector<double> values{};
  double worst = 0;
  std::string whose{};
  void add(double value, Better better, const auto& name) {
    if (values.empty() || (better == Better::higher ? value < worst : value > worst))
      worst = value, whose = name();
    values.push_back(value);
  }
};

void write_worst(Page& page, const Fleet& fleet, const Outliers& outliers) {
  const std::size_t named = outliers.named();
  Table table({left("Card"), left("Metric"), left("When"), right("Figure"), right("Worse by"),
               right("Score"), right("Named from"), left("Likely cause"), right("Metrics")});
  for (const CardScore& card : outliers.cards) {  // the named come first
    if (table.rows() == std::clamp(named, most_worst, most_listed)) break;
    if (card.worst.limit == 0) continue;
    const Finding& finding = card.findings.empty() ? card.worst : card.findings.front();
    const MetricName& metric = fleet.metrics[finding.metric];
    const MetricFigures f = fleet.gpus[card.gpu].at(finding.metric);
    table.add_row({escape_text(name_of(fleet.gpus[card.gpu].summary)), code(metric.name),
                   escape_text(kind_of(finding, f)),
                   quantity((f.together ? f.together : f.alone).optional(), metric.unit),
                   gap_text(finding.gap), fmt::format("{:.1f}", finding.score),
                   fmt::format("{:.1f}", finding.limit), escape_text(cause_text(finding)),
                   std::to_string(card.findings.size())});
  }
  if (table.rows() == 0) return;
  page.heading(2, "The worst cards", "worst");
  page.paragraph(
      "Each with the metric in which it stands out most, and the number of those that name it. A "
      "card is held against those of the same model and settings; score and limit are explained in "
      "docs/fleet.md. A score below its limit is within what chance makes of so many figures.");
  page.table("The ten worst, and all that are named", table);
  write_rest(page, named);
}

void write_problems(Page& page, const Fleet& fleet) {
  if (fleet.problems.empty()) return;
  page.heading(2, "Missing and incomplete", "missing");
  Table table({left("What"), left("Why"), right("Exit code")});
  for (const Problem& problem : fleet.problems) {
    if (table.rows() == most_listed) break;
    table.add_row({escape_text(problem.what), escape_text(problem.reason),
                   problem.exit_code == 0 ? "–" : std::to_string(problem.exit_code)});
  }
  page.table("What left no figures, or not all of them", table);
  write_rest(page, fleet.problems.size());
}

/// "node01 GPU 3", and for a list of many "node01 GPU 3, ... and 12 more".
std::string names_of(const Fleet& fleet, const std::vector<std::size_t>& gpus) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, gpus.size()); ++i)
    names.push_back(name_of(fleet.gpus[gpus[i]].summary));
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return gpus.size() > most ? fmt::format("{} and {} more", text, gpus.size() - most) : text;
}

void write_settings(Page& page, const Fleet& fleet) {
  const auto differing = differing_settings(fleet);
  if (differing.empty()) return;
  page.heading(2, "Settings that differ", "settings");
  Table table({left("Model"), left("Setting"), left("Value"), right("Cards"), left("Which")});
  for (const auto& [model, name, values] : differing)
    for (const auto& [value, gpus] : values)
      table.add_row({escape_text(model), escape_text(name), escape_text(value),
                     std::to_string(gpus.size()),
                     value == values.front().value ? "most" : escape_text(names_of(fleet, gpus))});
  page.table("Of the cards of one model, the most frequent first", table);
}

void write_losses(Page& page, const Fleet& fleet) {
  struct Loss {
    std::size_t metric;
    Pool cards;
    double typical;
  };
  std::vector<Loss> losses;
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    Pool cards;
    for (const FleetGpu& gpu : fleet.gpus) {
      const MetricFigures f = gpu.at(m);
      if (!f.alone || !f.together || !(*f.alone > 0) || !(*f.together > 0)) continue;
      const double ratio = *f.together / *f.alone;
      cards.add(fleet.metrics[m].better == Better::higher ? 1 - ratio : ratio - 1, Better::lower,
                [&] { return name_of(gpu.summary); });
    }
    if (cards.values.empty()) continue;
    const double typical = median(cards.values);
    losses.push_back({m, std::move(cards), typical});
  }
  if (losses.empty()) return;
  page.heading(2, "Alone and together", "together");
  page.paragraph(
      "Each GPU by itself, its host's others idle, then all of the host at once. They share power, "
      "PCIe switches and the host's memory; below 0 it was better together.");
  std::ranges::stable_sort(losses, std::greater{}, &Loss::typical);
  Table table(
      {left("Metric"), right("Cards"), right("Typical loss"), right("Largest loss"), left("Of")});
  for (const auto& [metric, cards, typical] : losses)
    table.add_row({code(fleet.metrics[metric].name), std::to_string(cards.values.size()),
                   gap_text(typical), gap_text(cards.worst), escape_text(cards.whose)});
  page.table("Loss together, the largest first", table);
}

/// What each fact of the links is on all hosts.
void write_link_facts(Page& page, const std::vector<HostLinks>& hosts) {
  struct Row {
    const LinkFact* first;
    Pool hosts{};
    std::optional<double> bound{};
  };
  std::vector<Row> rows;  // in the order of the facts
  std::map<std::string, std::size_t> places;
  for (const HostLinks& links : hosts)
    for (const LinkFact& fact : links.facts) {
      const auto [at, is_new] = places.try_emplace(fact.id, rows.size());
      if (is_new) rows.push_back({&fact});
      Row& row = rows[at->second];
      if (!fact.value) continue;
      row.hosts.add(*fact.value, fact.better, [&] { return links.host; });
      if (fact.bound) row.bound = fact.bound;
    }
  Table table({left("Between"), left("What"), right("Hosts"), right("Median"), right("Worst"),
               left("On"), right("Bound"), right("Of bound")});
  std::map<std::string, std::vector<std::string>> missing;
  for (const auto& [first, pool, bound] : rows) {
    const LinkFact& fact = *first;
    if (pool.values.empty()) {
      missing[fact.reason].push_back(fact.quantity);
      continue;
    }
    const double typical = median(pool.values);
    table.add_row({escape_text(fact.subject), escape_text(fact.quantity),
                   std::to_string(pool.values.size()), quantity(typical, fact.unit),
                   quantity(pool.worst, fact.unit), escape_text(pool.whose),
                   quantity(bound, fact.unit), share(typical, bound)});
  }
  page.table("What links carry: the best size or the median pair of each host", table);
  for (const auto& [reason, quantities] : missing)
    page.paragraph(
        escape_text(fmt::format("Not measured ({}): {}.", fmt::join(quantities, ", "), reason)));
}

/// The slowest pair of each kind of transfer over all hosts, against the median of them all: a
/// median for each host, as the facts have it, does not show a single bad link.
void write_pairs(Page& page, const std::vector<HostLinks>& hosts) {
  /// A pair's link is not slower than others' by this much for nothing: pairs of one kind are
  /// within a few percent of each other.
  constexpr double slow_pair = 0.95;
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<Pool, Reading>> kinds;
  for (const HostLinks& links : hosts)
    for (const LinkPair& pair : links.pairs) {
      if (!pair.value) continue;
      const LinkKind& kind = links.kinds[pair.kind];
      auto& [pairs, bound] = kinds[{kind.engine, kind.direction, kind.unit}];
      pairs.add(*pair.value, Better::higher, [&, &bound = bound] {
        bound = pair.bound;
        return fmt::format("{} GPU {} to {}", links.host, pair.from, pair.to);
      });
    }
  Table table({left("Engine"), left("Direction"), right("Pairs"), right("Median"), right("Slowest"),
               right("Of the median"), right("Of bound"), left("Which")});
  std::vector<std::string> slow;
  for (const auto& [kind, value] : kinds) {
    const auto& [engine, direction, unit] = kind;
    const auto& [pairs, bound] = value;
    const double typical = median(pairs.values);
    table.add_row({escape_text(engine), escape_text(direction), std::to_string(pairs.values.size()),
                   quantity(typical, unit), quantity(pairs.worst, unit),
                   share(pairs.worst, typical), share(pairs.worst, bound.optional()),
                   escape_text(pairs.whose)});
    if (pairs.worst < slow_pair * typical)
      slow.push_back(fmt::format("{} ({}, {})", pairs.whose, engine, direction));
  }
  if (!slow.empty())
    page.paragraph(escape_text(fmt::format("Slower than the median pair by more than {:.0f} %: {}.",
                                           100 * (1 - slow_pair), fmt::join(slow, "; "))));
  page.table("The slowest pair of GPUs", table);
}

void write_distributions(Page& page, const Fleet& fleet, const Outliers& outliers) {
  if (outliers.distributions.empty()) return;
  page.heading(2, "Distributions", "distributions");
  page.paragraph(
      "How much worse than the median the cards are, from the best to the worst: at 99 stands the "
      "card than which 99 % of the cards are no worse.");
  for (std::size_t group = 0; group < outliers.groups.size(); ++group) {
    std::vector<const Distribution*> order;
    for (const Distribution& d : outliers.distributions)
      if (d.group == group) order.push_back(&d);
    std::ranges::stable_sort(order, std::greater{}, [](const auto* d) { return d->spread; });
    constexpr std::size_t most = 1000;
    order.resize(std::min(most, order.size()));
    Table table({left("Metric"), right("Cards"), right("Median"), right("Spread"),
                 right("Best 1 %"), right("Worst 1 %"), right("Worst 0.1 %")});
    for (const Distribution* d : order) {
      const MetricName& metric = fleet.metrics[d->metric];
      table.add_row({code(metric.name), std::to_string(d->cards), quantity(d->median, metric.unit),
                     gap_text(d->spread), gap_text(d->quantiles[1]), gap_text(d->quantiles[7]),
                     gap_text(d->quantiles[8])});
    }
    const auto& [model, settings, members] = outliers.groups[group];
    page.table(
        (outliers.groups.size() < 2 ? "" : escape_text(fmt::format("{} ({}): ", model, settings))) +
            "By spread, a standard deviation between cards; a figure below 0 is better "
            "than the median",
        table);
  }
}

}  // namespace

std::string gap_text(double gap) {
  if (!beyond_measured(gap)) return fmt::format("{:.2f} %", 100 * gap);
  return fmt::format("over 1,000 times{}", gap < 0 ? " better" : "");
}

std::string cause_text(const Finding& finding) {
  return finding.causes.empty() ? "nothing in the telemetry"
                                : fmt::format("{}", fmt::join(finding.causes, "; "));
}

void write_sections(Page& page, const Fleet& fleet, const Outliers& outliers) {
  write_worst(page, fleet, outliers);
  write_problems(page, fleet);
  write_settings(page, fleet);
  write_losses(page, fleet);
  if (!fleet.links.empty()) {
    page.heading(2, "Links", "links");
    write_link_facts(page, fleet.links);
    write_pairs(page, fleet.links);
  }
  write_distributions(page, fleet, outliers);
}

void write_host(Page& page, const Fleet& fleet, const std::string& host) {
  page.heading(1, escape_text("Host " + host), "host");
  Table health({left("Card"), left("Status"), right("SM clock"), right("Power"),
                right("Power limit"), right("Temperature"), left("Held down by"), left("PCIe"),
                right("ECC errors")});
  std::vector<const FleetGpu*> cards;
  std::vector<Table::Column> header{left("Metric")};
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    const Health& h = s.health;
    if (s.host != host) continue;
    cards.push_back(&gpu);
    health.add_row({escape_text(fmt::format("GPU {}, {}", s.gpu, s.gpu_name)),
                    escape_text(fmt::format("{}{}{}", to_string(s.status),
                                            s.reason.empty() ? "" : ": ", s.reason)),
                    quantity(h.sm_clock_hz, "Hz"), quantity(h.power_w, "W"),
                    quantity(h.power_limit_w, "W"), quantity(h.temperature_c, "C"),
                    escape_text(fmt::format("{}", fmt::join(h.throttle_reasons, ", "))),
                    h.pcie_generation && h.pcie_width
                        ? fmt::format("generation {:g}, x{:g}", *h.pcie_generation, *h.pcie_width)
                        : "–",
                    quantity(h.uncorrected_ecc_errors, "")});
    for (const char* state : {"alone", "together"})
      header.push_back(right(fmt::format("GPU {} {}", s.gpu, state)));
  }
  page.table("State", health);
  Table table(header);
  for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
    std::vector<std::string> row{code(fleet.metrics[metric].name)};
    bool any = false;
    for (const FleetGpu* gpu : cards) {
      const MetricFigures f = gpu->at(metric);
      for (const Reading& figure : {f.alone, f.together}) {
        any = any || figure;
        row.push_back(quantity(figure.optional(), fleet.metrics[metric].unit));
      }
    }
    if (any) table.add_row(std::move(row));
  }
  page.table("Figures", table);
}

}  // namespace fathom::fleet
