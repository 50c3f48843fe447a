#include "fleet/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "fleet/sections.h"
#include "results/atomic_file.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

/// Up to here every host has a page.
constexpr std::size_t few_hosts = 8;

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
  std::set<std::string> all;
  for (const FleetGpu& gpu : fleet.gpus) all.insert(gpu.summary.host);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());
  reports::Page page(fleet.replay());
  FleetWriting to{fleet, outliers, page};
  page.heading(1, "Fleet of " + counts_text(fleet), "fleet");
  write_headlines(to);
  if (fleet.replay())
    page.paragraph(
        "**REPLAY**: figures repeat a recording, or were made from one; nothing was measured.");
  page.paragraph(escape_text(origin_text(fleet)));
  write_worst(to);
  write_problems(to);
  write_settings(to);
  write_losses(to);
  write_links(to);
  write_distributions(to);
  page.heading(2, "Hosts", "hosts");
  FleetReportPaths paths;
  std::vector<std::string> links;
  std::set<std::string> names, pages, unknown;
  if (all.size() <= few_hosts) pages = all;
  for (const std::string& host : hosts)  // a wrong name must not cost the report
    (all.contains(host) ? pages : unknown).insert(host);
  for (const std::string& host : pages) {
    reports::Page own(fleet.replay());
    FleetWriting to_own{fleet, outliers, own};
    write_host(to_own, host);
    std::string name = reports::slug(host);  // of two hosts perhaps the same
    for (int i = 2; !names.insert(name).second; ++i)
      name = fmt::format("{}.{}", reports::slug(host), i);
    paths.hosts.push_back(folder / fmt::format("host-{}.md", name));
    write_file_atomically(paths.hosts.back(), own.text());
    links.push_back(fmt::format("[{}](host-{}.md)", escape_text(host), name));
  }
  if (!links.empty()) page.list(links);
  for (const std::string& host : unknown)
    page.paragraph(fmt::format("No host {} has left a result (`--host`).", code(host)));
  if (paths.hosts.size() < all.size())
    page.paragraph("Any other host's page: `fathom fleet collect DIR --host NAME`.");
  paths.readme = folder / "README.md";
  write_file_atomically(paths.readme, page.text());
  return paths;
}

}  // namespace fathom::fleet
