#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/outliers.h"

namespace fathom::fleet {

struct FleetReportPaths {
  std::filesystem::path readme;
  std::vector<std::filesystem::path> hosts;
};

/// Writes the report of a fleet into a folder: README.md, and a page for each of `hosts`; for every
/// host where there are few. Its size grows with what was found, not with the fleet. Throws
/// Error(output_unwritable) or Error(output_full).
FleetReportPaths write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                    const std::filesystem::path& folder,
                                    const std::vector<std::string>& hosts);

/// A few lines for a terminal: how many, who is named and why, what is missing.
std::string fleet_summary(const Fleet& fleet, const Outliers& outliers);

/// The fleet document: every GPU with its settings, health and score, the named with their findings
/// and likely causes, distributions, settings that differ, facts of the links, and what is missing.
/// The figures themselves are in the GPUs' own summaries, whose paths it has.
std::string fleet_document(const Fleet& fleet, const Outliers& outliers);

}  // namespace fathom::fleet
