#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-fleet has: `fleet run` and `fleet collect`.
std::vector<TopCommand> fleet_commands();

/// `fleet run`.
std::function<ExitCode()> add_fleet_run(CLI::App& app);

/// What both commands make of a fleet.
struct FleetReportArguments {
  std::filesystem::path out;  ///< of fleet.json and report/
  std::optional<std::size_t> expect_gpus;
  std::string expect_hosts;        ///< a file with one host a line; empty: none
  std::vector<std::string> hosts;  ///< that get a page of their own
  double card_noise_percent = 0.5, least_gap_percent = 1;
  bool strict = false;  ///< a named card fails
  bool no_report = false;
};

void add_report_flags(CLI::App& app, FleetReportArguments& arguments);

/// What is expected of a fleet by those flags. Throws Error(bad_input) for a file that cannot be
/// read.
fleet::Expected expected_of(const FleetReportArguments& arguments);

/// Scores the fleet, writes fleet.json and the report, and prints the summary. Returns `incomplete`
/// where parts of it are missing, the one cause there is where there are no figures at all, and
/// `check_failed` for a named card if that was asked for.
ExitCode publish_fleet(const fleet::Fleet& fleet, const FleetReportArguments& arguments);

}  // namespace fathom
