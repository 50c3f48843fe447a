#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "fleet/commands/fleet_commands.h"
#include "fleet/report.h"
#include "results/atomic_file.h"
#include "results/error.h"
#include "results/output_file.h"
#include "tools/output_folder.h"

namespace fathom {

fleet::Expected expected_of(const FleetReportArguments& arguments) {
  fleet::Expected expected;
  expected.gpus = arguments.expect_gpus;
  if (arguments.expect_hosts.empty()) return expected;
  constexpr std::size_t largest = std::size_t{16} << 20;  // a list of hosts is not longer
  std::istringstream lines(read_file_up_to(arguments.expect_hosts, largest));
  for (std::string line; std::getline(lines >> std::ws, line);)
    if (!line.starts_with('#'))
      expected.hosts.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
  return expected;
}

ExitCode exit_code_of(const fleet::Fleet& fleet) {
  std::set<int> causes;
  for (const fleet::Problem& problem : fleet.problems)
    if (problem.exit_code != 0) causes.insert(problem.exit_code);
  if (causes.empty()) return ExitCode::ok;
  const auto cause = static_cast<ExitCode>(*causes.begin());
  const bool any_figures = std::ranges::any_of(
      fleet.gpus, [](const fleet::GpuSummary& gpu) { return !gpu.figures.empty(); });
  const bool tells = causes.size() == 1 && (!any_figures || cause == ExitCode::check_failed);
  return tells ? cause : ExitCode::incomplete;
}

ExitCode publish_fleet(const fleet::Fleet& fleet, const FleetReportArguments& arguments) {
  const fleet::Outliers outliers =
      find_outliers(fleet, {.least_gap = arguments.least_gap_percent / 100,
                            .card_noise = arguments.card_noise_percent / 100});
  const auto document = arguments.out / "fleet.json";
  if (!arguments.expect_hosts.empty())
    require_distinct(
        {{"--expect-hosts", arguments.expect_hosts}},
        {{"the document", document}, {"the report", arguments.out / "report" / "README.md"}});
  make_folder(arguments.out);
  write_file_atomically(document, fleet_document(fleet, outliers));
  fmt::print("{}Document: {}\n", fleet_summary(fleet, outliers), document.string());
  if (!arguments.no_report) {
    const auto paths =
        write_fleet_report(fleet, outliers, arguments.out / "report", arguments.hosts);
    fmt::print("Report: {}\n", paths.readme.string());
  }
  const ExitCode code = exit_code_of(fleet);
  if (code != ExitCode::ok) return code;
  return arguments.strict && outliers.named() > 0 ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace fathom
