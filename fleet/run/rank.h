#pragma once

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/launcher.h"
#include "results/exit_codes.h"

namespace fathom {

/// One rank of several: it measures its GPU in a child, and rank 0 reports what all have left on
/// storage that they share. Throws Error(setup_incomplete) where they do not find each other.
ExitCode run_rank(const FleetRunArguments& arguments, const Launcher& launcher);

}  // namespace fathom
