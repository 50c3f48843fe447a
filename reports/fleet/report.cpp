#include "reports/fleet/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/fleet/sections.h"
#include "reports/plot.h"
#include "results/atomic_file.h"
#include "results/error.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

/// Up to here every host has a page.
constexpr std::size_t few_hosts = 8;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} cannot be made ({}): choose another folder with --out.",
                            folder.string(), error.message()));
}

std::set<std::string> hosts_of(const Fleet& fleet) {
  std::set<std::string> hosts;
  for (const FleetGpu& gpu : fleet.gpus) hosts.insert(gpu.summary.host);
  return hosts;
}

std::vector<std::string> hosts_with_page(const Fleet& fleet, const ReportOptions& options) {
  const std::set<std::string> all = hosts_of(fleet);
  if (all.size() <= few_hosts) return {all.begin(), all.end()};
  std::vector<std::string> hosts = options.hosts;
  std::erase_if(hosts, [&](const std::string& host) { return !all.contains(host); });
  return hosts;
}

/// A wrong name must not cost the report.
void write_unknown_hosts(const Fleet& fleet, const ReportOptions& options, reports::Page& page) {
  const std::set<std::string> all = hosts_of(fleet);
  for (const std::string& host : options.hosts)
    if (!all.contains(host))
      page.paragraph(fmt::format("No host {} has left a result (`--host`).", reports::code(host)));
}

std::string counts_text(const Fleet& fleet) {
  return fmt::format("{} GPU{} on {} host{}", fleet.gpus.size(), fleet.gpus.size() == 1 ? "" : "s",
                     fleet.hosts(), fleet.hosts() == 1 ? "" : "s");
}

/// When and by which suite, of all cards.
std::string origin_text(const Fleet& fleet) {
  std::set<std::string> suites;
  std::string first, last;
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    if (!s.suite.empty()) suites.insert(s.suite);
    if (s.date.empty()) continue;
    if (first.empty() || s.date < first) first = s.date;
    last = std::max(last, s.date);
  }
  return fmt::format("Suite {}; {}{}.",
                     suites.empty() ? "unknown" : fmt::format("{}", fmt::join(suites, ", ")), first,
                     first == last ? "" : " to " + last);
}

/// One named card in a line: where it stands out most, by how much, and probably why.
struct Headline {
  std::string card, metric, gap, also, cause;
  std::string text(const std::string& shown_metric) const {
    return fmt::format("{} worse in {}{}; {}", gap, shown_metric, also, cause);
  }
};

std::vector<Headline> headlines_of(const Fleet& fleet, const Outliers& outliers, std::size_t most) {
  std::vector<Headline> lines;
  std::map<std::size_t, Causes> causes;
  for (const CardScore& card : outliers.cards) {
    if (card.findings.empty() || lines.size() == most) break;  // the named come first
    const Finding& worst = card.findings.front();
    auto& finder = causes.try_emplace(card.group, fleet, outliers.groups[card.group]).first->second;
    std::string also;
    if (card.findings.size() > 1) {
      // The one that stands out most is also the luckiest of many: the median tells the size.
      std::vector<double> gaps;
      for (const Finding& finding : card.findings) gaps.push_back(finding.gap);
      also = fmt::format(" ({} metrics, by {} in the median)", gaps.size(), gap_text(median(gaps)));
    }
    lines.push_back({name_of(fleet.gpus[card.gpu].summary), fleet.metrics[worst.metric].name,
                     gap_text(worst.gap), std::move(also), cause_text(finder.of(card.gpu, worst))});
  }
  return lines;
}

std::string verdict_text(const Fleet& fleet, const Outliers& outliers) {
  const std::size_t compared = static_cast<std::size_t>(std::ranges::count_if(
      outliers.cards, [](const CardScore& card) { return card.worst.limit > 0; }));
  return fmt::format("{} worse than their kind{}, {} missing or incomplete.", outliers.named(),
                     compared == 0 && !fleet.gpus.empty()
                         ? " (fewer than three of a kind: none is held against others)"
                         : "",
                     fleet.problems.size());
}

/// What an operator wants first: who is slow, in what, by how much and why; what is missing.
void write_headlines(const Fleet& fleet, const Outliers& outliers, reports::Page& page) {
  constexpr std::size_t most = 5;
  page.paragraph(fmt::format("**{}**", verdict_text(fleet, outliers)));
  std::vector<std::string> items;
  for (const Headline& line : headlines_of(fleet, outliers, most))
    items.push_back(fmt::format("**{}**: {} worse in {}{}{}; {}", reports::escape_text(line.card),
                                line.gap, reports::code(line.metric), line.also.empty() ? "" : " ",
                                reports::escape_text(line.also), reports::escape_text(line.cause)));
  if (outliers.named() > most)
    items.push_back(fmt::format("and [{} more](#named)", outliers.named() - most));
  if (!items.empty()) page.list(items);
}

/// The slowest card of each part: what the whole fleet waited for.
void write_times(const Fleet& fleet, reports::Page& page) {
  double alone = 0, together = 0, suite = 0;
  for (const FleetGpu& gpu : fleet.gpus) {
    alone = std::max(alone, gpu.summary.elapsed_s.alone.value_or(0));
    together = std::max(together, gpu.summary.elapsed_s.together.value_or(0));
    suite = std::max(suite, gpu.summary.elapsed_s.suite.value_or(0));
  }
  std::vector<std::string> parts;
  if (alone > 0) parts.push_back(fmt::format("alone {:.1f} s a card", alone));
  if (together > 0) parts.push_back(fmt::format("the same together {:.1f} s", together));
  if (suite > 0) parts.push_back(fmt::format("the suite on all at once {:.1f} s", suite));
  for (const HostLinks& links : fleet.links)
    if (&links == &fleet.links.front())
      parts.push_back(fmt::format("links {:.1f} s", links.elapsed_s));
  if (!parts.empty())
    page.paragraph(fmt::format("The slowest card's time: {}.", fmt::join(parts, "; ")));
}

bool refused(const GpuSummary& s) { return s.exit_code == to_int(ExitCode::counters_unavailable); }

bool collected(const GpuSummary& s) {
  return s.no_counters.empty() && s.status == GpuStatus::complete && !refused(s);
}

/// On how many GPUs counters were asked for, on how many they were collected, and of which probes
/// no GPU has them.
void write_collected(const Fleet& fleet, reports::Page& page) {
  std::size_t asked = 0, had = 0, without = 0;
  bool any_has_all = false;
  std::set<std::string> wanted, there;
  for (const FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    if (s.source == Source::replay || !s.no_counters.empty()) continue;
    ++asked;
    without += refused(s);
    wanted.insert(s.counters_of.begin(), s.counters_of.end());
    if (!collected(s)) continue;
    ++had;
    any_has_all = any_has_all || s.counters_of.empty();
    there.insert(s.counters_of.begin(), s.counters_of.end());
  }
  if (asked == 0) return;
  std::string text =
      fmt::format("Hardware counters were asked for on {} GPUs, collected on {}", asked, had);
  if (without > 0) text += fmt::format("; {} were refused them", without);
  if (asked > had + without) text += fmt::format("; {} did not complete", asked - had - without);
  page.paragraph(text + ".");
  if (any_has_all) return;
  std::vector<std::string> missing;
  for (const std::string& probe : wanted)
    if (!there.contains(probe)) missing.push_back(reports::code(probe));
  if (!missing.empty())
    page.paragraph(
        fmt::format("No GPU that completed has the counters of {}.", fmt::join(missing, ", ")));
}

/// Whether GPUs shared the hardware counters, and whose runs were not to collect any and why: not
/// by name where one reason holds for all.
void write_counters(const Fleet& fleet, reports::Page& page) {
  if (std::ranges::any_of(fleet.gpus,
                          [](const FleetGpu& gpu) { return !gpu.summary.counters_of.empty(); }))
    page.paragraph(
        "Each probe's hardware counters were to be collected by one GPU of its host (`--counters "
        "shared`), which the host's page names; the others leave out its cases that only counters "
        "can decide.");
  write_collected(fleet, page);
  std::map<std::string, std::vector<std::size_t>> without;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i)
    if (const std::string& why = fleet.gpus[i].summary.no_counters; !why.empty())
      without[why].push_back(i);
  constexpr std::size_t most_named = 8;
  for (const auto& [why, gpus] : without)
    page.paragraph(reports::escape_text(fmt::format(
        "No hardware counters on {} of {} GPUs ({}): {}. Their cases that only counters can decide "
        "were left out.",
        gpus.size(), fleet.gpus.size(), why,
        gpus.size() == fleet.gpus.size() ? "all" : names_of(fleet, gpus, most_named))));
}

fs::path write_host_page(const Fleet& fleet, const Outliers& outliers, const fs::path& folder,
                         const std::string& host, std::set<std::string>& names) {
  reports::Page page(fleet.replay());
  FleetWriting to{fleet, outliers, page, folder, false};
  write_host(to, host);
  std::string name = reports::slug(host);  // of two hosts perhaps the same
  for (int i = 2; !names.insert(name).second; ++i)
    name = fmt::format("{}.{}", reports::slug(host), i);
  const fs::path file = folder / ("host-" + name + ".md");
  write_file_atomically(file, page.text());
  return file;
}

}  // namespace

FleetReportPaths write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                    const fs::path& folder, const ReportOptions& options) {
  const auto hosts = hosts_with_page(fleet, options);
  make_folder(folder);
  reports::Page page(fleet.replay());
  const std::string problem = gnuplot_problem();
  FleetWriting to{fleet, outliers, page, folder, problem.empty()};
  page.heading(1, "Fleet of " + counts_text(fleet), "fleet");
  write_headlines(fleet, outliers, page);
  if (fleet.replay())
    page.paragraph(
        "**REPLAY**: figures repeat a recording, or were made from one; nothing was measured.");
  page.paragraph(reports::escape_text(origin_text(fleet)));
  write_times(fleet, page);
  write_counters(fleet, page);
  if (!problem.empty()) page.paragraph(reports::escape_text("No pictures: " + problem));
  page.contents_here();
  write_named(to);
  write_worst(to);
  write_problems(to);
  write_settings(to);
  write_losses(to);
  write_links(to);
  write_heat_map(to);
  write_distributions(to);
  page.heading(2, "Hosts", "hosts");
  FleetReportPaths paths;
  std::vector<std::string> links;
  std::set<std::string> names;
  for (const std::string& host : hosts) {
    paths.hosts.push_back(write_host_page(fleet, outliers, folder, host, names));
    links.push_back(fmt::format("[{}]({})", reports::escape_text(host),
                                paths.hosts.back().filename().string()));
  }
  if (!links.empty()) page.list(links);
  write_unknown_hosts(fleet, options, page);
  if (hosts.size() < fleet.hosts())
    page.paragraph(
        fmt::format("Any other host's page: `{} --host NAME`.", options.collect_command));
  paths.readme = folder / "README.md";
  write_file_atomically(paths.readme, page.text());
  return paths;
}

std::string fleet_summary(const Fleet& fleet, const Outliers& outliers) {
  constexpr std::size_t most = 10;
  std::string text;
  if (fleet.replay()) text += "REPLAY: figures repeat a recording, or were made from one.\n";
  text += counts_text(fleet) + "; " + verdict_text(fleet, outliers) + "\n";
  for (const Headline& line : headlines_of(fleet, outliers, most))
    text += reports::clean(fmt::format("  {}: {}", line.card, line.text(line.metric))) + "\n";
  if (outliers.named() > most) text += fmt::format("  ... and {} more\n", outliers.named() - most);
  std::size_t shown = 0;
  for (const Problem& problem : fleet.problems) {
    if (shown++ == most) {
      text += fmt::format("  ... and {} more\n", fleet.problems.size() - most);
      break;
    }
    text += reports::clean(fmt::format("  {}: {}", problem.what, problem.reason)) + "\n";
  }
  return text;
}

}  // namespace fathom::fleet
