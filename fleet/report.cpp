#include "fleet/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fleet/sections.h"
#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;
using reports::escape_text;

/// Up to here every host has a page.
constexpr std::size_t few_hosts = 8;

/// "8 GPUs on 1 host"
std::string counts_text(const Fleet& fleet) {
  return counted(fleet.gpus.size(), "GPU") + " on " + counted(fleet.hosts(), "host");
}

std::string verdict_text(const Fleet& fleet, const Outliers& outliers) {
  const bool compared = std::ranges::any_of(
      outliers.cards, [](const CardScore& card) { return card.worst.limit > 0; });
  return fmt::format(
      "{} worse than their kind{}, {} missing or incomplete.", outliers.named(),
      compared || fleet.gpus.empty() ? ""
                                     : " (fewer than three of a kind: none is held against others)",
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
  return fmt::format("{}: {} worse in {}{}; {}", name_of(fleet.gpus[card.gpu].summary),
                     gap_text(worst.gap), fleet.metrics[worst.metric].name, also,
                     cause_text(worst));
}

/// When and by which suite, of all cards.
std::string origin_text(const Fleet& fleet) {
  std::set<std::string> suites, dates;
  for (const FleetGpu& gpu : fleet.gpus) {
    suites.insert(gpu.summary.suite);
    dates.insert(gpu.summary.date);
  }
  suites.erase(""), dates.erase("");
  std::string when = dates.empty() ? "" : *dates.begin();
  if (dates.size() > 1) when += " to " + *dates.rbegin();
  return fmt::format("Suite {}; {}.",
                     suites.empty() ? "unknown" : fmt::format("{}", fmt::join(suites, ", ")), when);
}

}  // namespace

FleetReportPaths write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                    const fs::path& folder, const std::vector<std::string>& hosts) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());
  reports::Page page(fleet.replay());
  page.heading(1, "Fleet of " + counts_text(fleet), "fleet");
  page.paragraph(fmt::format("**{}**", verdict_text(fleet, outliers)));
  if (fleet.replay())
    page.paragraph(
        "**REPLAY**: figures repeat a recording, or were made from one; nothing was measured.");
  page.paragraph(escape_text(origin_text(fleet)));
  write_sections(page, fleet, outliers);
  page.heading(2, "Hosts", "hosts");
  std::set<std::string> all, names, pages, unknown;
  for (const FleetGpu& gpu : fleet.gpus) all.insert(gpu.summary.host);
  if (all.size() <= few_hosts) pages = all;
  for (const std::string& host : hosts)  // a wrong name must not cost the report
    (all.contains(host) ? pages : unknown).insert(host);
  FleetReportPaths paths;
  std::vector<std::string> links;
  for (const std::string& host : pages) {
    reports::Page own(fleet.replay());
    write_host(own, fleet, host);
    std::string name = reports::slug(host);  // of two hosts perhaps the same
    for (int i = 2; !names.insert(name).second; ++i)
      name = fmt::format("{}.{}", reports::slug(host), i);
    paths.hosts.push_back(folder / fmt::format("host-{}.md", name));
    write_file_atomically(paths.hosts.back(), own.text());
    links.push_back(fmt::format("[{}](host-{}.md)", escape_text(host), name));
  }
  if (!links.empty()) page.list(links);
  for (const std::string& host : unknown)
    page.paragraph(fmt::format("No host {} has left a result (`--host`).", reports::code(host)));
  if (paths.hosts.size() < all.size())
    page.paragraph("Any other host's page: `fathom fleet collect DIR --host NAME`.");
  paths.readme = folder / "README.md";
  write_file_atomically(paths.readme, page.text());
  return paths;
}

std::string fleet_summary(const Fleet& fleet, const Outliers& outliers) {
  constexpr std::size_t most = 10;
  std::string text;
  if (fleet.replay()) text += "REPLAY: figures repeat a recording, or were made from one.\n";
  text += counts_text(fleet) + "; " + verdict_text(fleet, outliers) + "\n";
  const auto list = [&](std::size_t size, const auto& line_of) {
    for (std::size_t i = 0; i < std::min(most, size); ++i) text += "  " + clean(line_of(i)) + "\n";
    if (size > most) text += fmt::format("  ... and {} more\n", size - most);
  };
  list(outliers.named(), [&](auto i) { return headline_of(fleet, outliers.cards[i]); });
  list(fleet.problems.size(),
       [&](auto i) { return fleet.problems[i].what + ": " + fleet.problems[i].reason; });
  return text;
}

}  // namespace fathom::fleet
