#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "fleet/commands/fleet_commands.h"

namespace fathom {

struct FleetRunArguments {
  std::string suite = "quick";
  std::string alone = "brief";  ///< what each GPU does by itself: "brief", "full" or "none"
  /// Which GPUs of a host collect hardware counters: "shared", "first", "all" or "none".
  std::string counters = "shared";
  FleetReportArguments report;
  std::string host_name;  ///< empty: the machine's
  int gpus = 1;           ///< that a replay has for each process
  bool replay = false;
  bool no_links = false;
  bool part = false;           ///< one of several independent jobs: others report
  double time_limit_s = 1800;  ///< of one part of one GPU
  double wait_s = 120;         ///< of rank 0 for others, after its own
};

void add_run_flags(CLI::App& app, FleetRunArguments& arguments);

/// Sets what follows from the machine: host name, folder. Throws Error(bad_input) for what does not
/// fit together.
void complete(FleetRunArguments& arguments);

}  // namespace fathom
