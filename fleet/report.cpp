#include "fleet/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fleet/sections.h"
#include "results/atomic_file.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

/// Up to here every host has a page.
constexpr std::size_t few_hosts = 8;

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
  double links = 0;
  for (const HostLinks& host : fleet.links) links = std::max(links, host.elapsed_s);
  if (links > 0) parts.push_back(fmt::format("links {:.1f} s", links));
  if (!parts.empty())
    page.paragraph(fmt::format("The slowest card's time: {}.", fmt::join(parts, "; ")));
}

fs::path write_host_page(const Fleet& fleet, const Outliers& outliers, const fs::path& folder,
                         const std::string& host, std::set<std::string>& names) {
  reports::Page page(fleet.replay());
  FleetWriting to{fleet, outliers, page};
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
  page.paragraph(reports::escape_text(origin_text(fleet)));
  write_times(fleet, page);
  write_counters(to);
  page.contents_here();
  write_named(to);
  write_worst(to);
  write_problems(to);
  write_settings(to);
  write_losses(to);
  write_links(to);
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

}  // namespace fathom::fleet
