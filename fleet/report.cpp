#include "fleet/fleet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "reports/markdown.h"
#include "results/files.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;
using reports::code;
using reports::escape_text;
using reports::Page;
using reports::quantity;
using reports::Table;

constexpr std::size_t most_worst = 10, most_listed = 200;  ///< rows of a table of cards or files

void write_rest(Page& page, std::size_t all) {
  if (all > most_listed)
    page.paragraph(fmt::format("And {} more: all are in `fleet.json`.", all - most_listed));
}

std::string share(double value, const std::optional<double>& of) {
  return of > 0 ? fmt::format("{:.1f} %", 100 * value / *of) : "–";
}

/// Values of many cards or hosts, and whose is the worst of them.
template <class Who>
struct Pool {
  std::vector<double> values{};
  double worst = 0;
  Who whose{};
  void add(double value, Better better, const Who& who) {
    if (values.empty() || (better == Better::higher ? value < worst : value > worst))
      worst = value, whose = who;
    values.push_back(value);
  }
};

void write_worst(Page& page, const Fleet& fleet, const Outliers& outliers) {
  const std::size_t named = outliers.named();
  Table table({"Card", "Metric", "When", ">Figure", ">Worse by", ">Score", ">Named from",
               "Likely cause", ">Metrics"});
  for (const CardScore& card : outliers.cards) {  // the named come first
    if (table.rows() == std::clamp(named, most_worst, most_listed)) break;
    if (card.worst.limit == 0) continue;
    const Finding& finding = card.findings.empty() ? card.worst : card.findings.front();
    const MetricName& metric = fleet.metrics[finding.metric];
    const GpuSummary& gpu = fleet.gpus[card.gpu];
    const MetricFigures f = gpu.at(finding.metric);
    table.add_row({escape_text(name_of(gpu)), code(metric.name), escape_text(kind_of(finding, f)),
                   quantity((f.together ? f.together : f.alone).optional(), metric.unit),
                   gap_text(finding.gap), fmt::format("{:.1f}", finding.score),
                   fmt::format("{:.1f}", finding.limit), escape_text(cause_text(finding)),
                   std::to_string(card.findings.size())});
  }
  if (table.rows() == 0) return;
  page.heading(2, "The worst cards", "worst");
  page.paragraph(
      "Each with the metric in which it stands out most, and the number of those that name it. "
      "docs/fleet.md explains score and limit.");
  page.table("The ten worst, and all that are named", table);
  write_rest(page, named);
}

void write_problems(Page& page, const Fleet& fleet) {
  if (fleet.problems.empty()) return;
  page.heading(2, "Missing and incomplete", "missing");
  Table table({"What", "Why", ">Exit code"});
  for (const auto& [what, reason, exit_code] :
       std::span(fleet.problems).first(std::min(most_listed, fleet.problems.size())))
    table.add_row(
        {escape_text(what), escape_text(reason), exit_code == 0 ? "–" : std::to_string(exit_code)});
  page.table("What left no figures, or not all of them", table);
  write_rest(page, fleet.problems.size());
}

void write_settings(Page& page, const Fleet& fleet) {
  Table table({"Model", "Setting", "Value", ">Cards", "Which"});
  const auto name = [&](std::size_t gpu) { return name_of(fleet.gpus[gpu]); };
  for (const auto& [model, setting, values] : differing_settings(fleet))
    for (const auto& [value, gpus] : values)
      table.add_row(
          {escape_text(model), escape_text(setting), escape_text(value),
           std::to_string(gpus.size()),
           value == values.front().first ? "most" : escape_text(first_of(gpus, 4, name))});
  if (table.rows() == 0) return;
  page.heading(2, "Settings that differ", "settings");
  page.table("Of the cards of one model, the most frequent first", table);
}

void write_losses(Page& page, const Fleet& fleet) {
  using Cards = Pool<const GpuSummary*>;
  std::vector<std::tuple<double, std::size_t, Cards>> losses;  // typical one, metric, all
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    Cards cards;
    for (const GpuSummary& gpu : fleet.gpus) {
      const MetricFigures f = gpu.at(m);
      if (!f.alone || !f.together || !(*f.alone > 0) || !(*f.together > 0)) continue;
      const double ratio = *f.together / *f.alone;
      cards.add(fleet.metrics[m].better == Better::higher ? 1 - ratio : ratio - 1, Better::lower,
                &gpu);
    }
    if (const auto typical = median_or_none(cards.values))
      losses.emplace_back(*typical, m, std::move(cards));
  }
  if (losses.empty()) return;
  page.heading(2, "Alone and together", "together");
  page.paragraph(
      "Each GPU by itself, its host's others idle, then all of the host at once. They share power, "
      "PCIe switches and the host's memory; below 0 it was better together.");
  std::ranges::stable_sort(losses, std::greater{}, [](const auto& loss) { return get<0>(loss); });
  Table table({"Metric", ">Cards", ">Typical loss", ">Largest loss", "Of"});
  for (const auto& [typical, metric, cards] : losses)
    table.add_row({code(fleet.metrics[metric].name), std::to_string(cards.values.size()),
                   gap_text(typical), gap_text(cards.worst), escape_text(name_of(*cards.whose))});
  page.table("Loss together, the largest first", table);
}

/// What each fact of the links is on all hosts.
void write_link_facts(Page& page, const std::vector<HostLinks>& hosts) {
  struct Row {
    const LinkFact* first;
    Pool<const HostLinks*> hosts{};
    std::optional<double> bound{};
  };
  std::vector<Row> rows;  // in the order of the facts
  for (const HostLinks& links : hosts)
    for (const LinkFact& fact : links.facts) {
      auto row = std::ranges::find(rows, fact.id, [](const Row& r) { return r.first->id; });
      if (row == rows.end()) row = rows.insert(row, {&fact});
      if (!fact.value) continue;
      row->hosts.add(*fact.value, fact.better, &links);
      if (fact.bound) row->bound = fact.bound;
    }
  Table table({"Between", "What", ">Hosts", ">Median", ">Worst", "On", ">Bound", ">Of bound"});
  std::map<std::string, std::vector<std::string>> missing;
  for (const auto& [fact, pool, bound] : rows) {
    const auto typical = median_or_none(pool.values);
    if (!typical)
      missing[fact->reason].push_back(fact->quantity);
    else
      table.add_row({escape_text(fact->subject), escape_text(fact->quantity),
                     std::to_string(pool.values.size()), quantity(typical, fact->unit),
                     quantity(pool.worst, fact->unit), escape_text(pool.whose->host),
                     quantity(bound, fact->unit), share(*typical, bound)});
  }
  page.table("What links carry: the best size or the median pair of each host", table);
  for (const auto& [reason, quantities] : missing)
    page.paragraph(
        escape_text(fmt::format("Not measured ({}): {}.", fmt::join(quantities, ", "), reason)));
}

/// The slowest pair of each kind of transfer over all hosts, against the median of them all: a
/// median for each host, as the facts have it, does not show a single bad link.
void write_pairs(Page& page, const std::vector<HostLinks>& hosts) {
  constexpr double slow_pair = 0.95;  // pairs of one kind are within a few percent of each other
  using Who = std::pair<const HostLinks*, const LinkPair*>;
  std::map<LinkKind, Pool<Who>> kinds;
  for (const HostLinks& links : hosts)
    for (const LinkPair& pair : links.pairs)
      if (pair.value)
        kinds[links.kinds[pair.kind]].add(*pair.value, Better::higher, {&links, &pair});
  Table table({"Engine", "Direction", ">Pairs", ">Median", ">Slowest", ">Of the median",
               ">Of bound", "Which"});
  std::vector<std::string> slow;
  for (const auto& [kind, pairs] : kinds) {
    const auto& [engine, direction, unit] = kind;
    const auto& [links, pair] = pairs.whose;
    const std::string which = fmt::format("{} GPU {} to {}", links->host, pair->from, pair->to);
    const double typical = median(pairs.values);
    table.add_row({escape_text(engine), escape_text(direction), std::to_string(pairs.values.size()),
                   quantity(typical, unit), quantity(pairs.worst, unit),
                   share(pairs.worst, typical), share(pairs.worst, pair->bound.optional()),
                   escape_text(which)});
    if (pairs.worst < slow_pair * typical)
      slow.push_back(fmt::format("{} ({}, {})", which, engine, direction));
  }
  if (!slow.empty())
    page.paragraph(escape_text(fmt::format("Slower than the median pair by more than {:.0f} %: {}.",
                                           100 * (1 - slow_pair), fmt::join(slow, "; "))));
  page.table("The slowest pair of GPUs", table);
}

void write_distributions(Page& page, const Fleet& fleet, const Outliers& outliers) {
  if (outliers.distributions.empty()) return;
  page.heading(2, "Distributions", "distributions");
  auto sorted = outliers.distributions;
  std::ranges::stable_sort(sorted, std::greater{}, &Distribution::spread);
  for (std::size_t group = 0; group < outliers.groups.size(); ++group) {
    Table table(
        {"Metric", ">Cards", ">Median", ">Spread", ">Best 1 %", ">Worst 1 %", ">Worst 0.1 %"});
    constexpr std::size_t most = 1000;
    for (const Distribution& d : sorted) {
      if (d.group != group || table.rows() == most) continue;
      const MetricName& metric = fleet.metrics[d.metric];
      table.add_row({code(metric.name), std::to_string(d.cards), quantity(d.median, metric.unit),
                     gap_text(d.spread), gap_text(d.quantiles[1]), gap_text(d.quantiles[7]),
                     gap_text(d.quantiles[8])});
    }
    const auto& [model, settings, members] = outliers.groups[group];
    const std::string of = settings.empty() ? model : fmt::format("{} ({})", model, settings);
    page.table((outliers.groups.size() < 2 ? "" : escape_text(of + ": ")) +
                   "By spread, a standard deviation between cards; a figure below 0 is better "
                   "than the median",
               table);
  }
}

/// All cards and figures of one host.
void write_host(Page& page, const Fleet& fleet, const std::string& host) {
  page.heading(1, escape_text("Host " + host), "host");
  Table health({"Card", "Status", ">SM clock", ">Power", ">Power limit", ">Temperature",
                "Held down by", "PCIe", ">ECC errors"});
  std::vector<const GpuSummary*> cards;
  std::vector<std::string> header{"Metric"};
  for (const GpuSummary& s : fleet.gpus) {
    if (s.host != host) continue;
    cards.push_back(&s);
    const Health& h = s.health;
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
      header.push_back(fmt::format(">GPU {} {}", s.gpu, state));
  }
  page.table("State", health);
  Table table(header);
  for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
    std::vector<std::string> row{code(fleet.metrics[metric].name)};
    bool any = false;
    for (const GpuSummary* gpu : cards) {
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

/// "8 GPUs on 1 host"
std::string counts_text(const Fleet& fleet) {
  return counted(fleet.gpus.size(), "GPU") + " on " + counted(fleet.hosts(), "host");
}

std::string verdict_text(const Fleet& fleet, const Outliers& outliers) {
  const bool compared = std::ranges::any_of(
      outliers.cards, [](const CardScore& card) { return card.worst.limit > 0; });
  const char* none = " (fewer than three of a kind: none is held against others)";
  return fmt::format(
      "{} worse than their kind{}, {} missing or incomplete.", outliers.named(),
      compared || fleet.gpus.empty() ? "" : none,
      std::ranges::count_if(fleet.problems, [](const Problem& p) { return p.exit_code != 0; }));
}

/// A named card in a line: where it stands out most, by how much, and probably why.
std::string headline_of(const Fleet& fleet, const CardScore& card) {
  const Finding& worst = card.findings.front();
  std::string also;
  if (card.findings.size() > 1) {
    // The one that stands out most is also the luckiest of many: the median tells the size.
    std::vector<double> gaps;
    for (const Finding& finding : card.findings) gaps.push_back(finding.gap);
    also = fmt::format(" ({} metrics, by {} in the median)", gaps.size(), gap_text(median(gaps)));
  }
  return fmt::format("{}: {} worse in {}{}; {}", name_of(fleet.gpus[card.gpu]), gap_text(worst.gap),
                     fleet.metrics[worst.metric].name, also, cause_text(worst));
}

/// When and by which suite, of all cards; empty before anything was measured.
std::string origin_text(const Fleet& fleet) {
  std::set<std::string> suites, dates;
  for (const GpuSummary& gpu : fleet.gpus) {
    if (!gpu.suite.empty()) suites.insert(gpu.suite);
    if (!gpu.date.empty()) dates.insert(gpu.date);
  }
  if (suites.empty() || dates.empty()) return "";
  return fmt::format("Suite {}; {}{}.", fmt::join(suites, ", "), *dates.begin(),
                     dates.size() > 1 ? " to " + *dates.rbegin() : "");
}

}  // namespace

std::vector<fs::path> write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                         const fs::path& folder,
                                         const std::vector<std::string>& hosts) {
  reports::Page page(fleet.replay());
  page.heading(1, "Fleet of " + counts_text(fleet), "fleet");
  page.paragraph(fmt::format("**{}**", verdict_text(fleet, outliers)));
  if (fleet.replay())
    page.paragraph(
        "**REPLAY**: figures repeat a recording, or were made from one; nothing was measured.");
  if (const std::string origin = origin_text(fleet); !origin.empty())
    page.paragraph(escape_text(origin));
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
  page.heading(2, "Hosts", "hosts");
  std::set<std::string> all, names, pages;
  for (const GpuSummary& gpu : fleet.gpus) all.insert(gpu.host);
  if (all.size() <= 8) pages = all;
  for (const std::string& host : hosts)
    if (all.contains(host))
      pages.insert(host);
    else  // a wrong name must not cost the report
      page.paragraph(fmt::format("No host {} has left a result (`--host`).", code(host)));
  std::vector<fs::path> paths{folder / "README.md"};
  std::vector<std::string> links;
  for (const std::string& host : pages) {
    reports::Page own(fleet.replay());
    write_host(own, fleet, host);
    std::string name = reports::slug(host);  // of two hosts perhaps the same
    for (int i = 2; !names.insert(name).second; ++i)
      name = fmt::format("{}.{}", reports::slug(host), i);
    paths.push_back(folder / fmt::format("host-{}.md", name));
    write_file_atomically(paths.back(), own.text());
    links.push_back(fmt::format("[{}](host-{}.md)", escape_text(host), name));
  }
  if (!links.empty()) page.list(links);
  if (pages.size() < all.size())
    page.paragraph("Any other host's page: `fathom fleet collect DIR --host NAME`.");
  write_file_atomically(paths.front(), page.text());
  return paths;
}

std::string fleet_summary(const Fleet& fleet, const Outliers& outliers) {
  constexpr std::size_t most = 10;
  std::string text;
  if (fleet.replay()) text += "REPLAY: figures repeat a recording, or were made from one.\n";
  text += counts_text(fleet) + "; " + verdict_text(fleet, outliers) + "\n";
  const auto list = [&](auto items, const auto& line_of) {
    for (const auto& item : std::span(items).first(std::min(most, items.size())))
      text += "  " + clean(line_of(item)) + "\n";
    if (items.size() > most) text += fmt::format("  ... and {} more\n", items.size() - most);
  };
  list(std::span(outliers.cards).first(outliers.named()),
       [&](const CardScore& card) { return headline_of(fleet, card); });
  list(std::span(fleet.problems), [](const Problem& p) { return p.what + ": " + p.reason; });
  return text;
}

}  // namespace fathom::fleet
