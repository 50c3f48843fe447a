#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-fleet has: `fleet run` and `fleet collect`.
std::vector<Command> fleet_commands();

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

struct FleetRunArguments {
  std::string suite = "quick";
  std::string alone = "brief";  ///< what each GPU does by itself: "brief", "full" or "none"
  FleetReportArguments report;
  std::string host_name;  ///< empty: the machine's
  bool replay = false;
  bool no_links = false;
  bool no_counters = false;    ///< else one GPU of a host collects each probe's
  bool part = false;           ///< one of several independent jobs: others report
  double time_limit_s = 1800;  ///< of one part of one GPU
  double wait_s = 120;         ///< of rank 0 for others, after its own
};

/// `fleet run`.
ExitCode fleet_run(const FleetRunArguments& arguments);

/// By those flags. Throws Error(bad_input) for a file that cannot be read.
fleet::Expected expected_of(const FleetReportArguments& arguments);

/// `incomplete` where parts of it are missing; the one cause there is where there are no figures at
/// all, or where it is a failed check.
ExitCode exit_code_of(const fleet::Fleet& fleet);

/// Scores the fleet, writes fleet.json and the report, and prints the summary. Returns the fleet's
/// exit code, and `check_failed` for a named card if that was asked for.
ExitCode publish_fleet(const fleet::Fleet& fleet, const FleetReportArguments& arguments);

}  // namespace fathom
