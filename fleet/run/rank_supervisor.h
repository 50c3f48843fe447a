#pragma once

#include "results/exit_codes.h"
#include "fleet/run/launcher.h"
#include "fleet/commands/run_arguments.h"

namespace fathom {

/// One rank of several: the MPI program does the work, and this process, which has no MPI in it,
/// sees to it that its death is known and takes nobody with it. Throws Error(setup_incomplete)
/// where Fathom was built without MPI.
ExitCode supervise_rank(const FleetRunArguments& arguments, const Launcher& launcher);

}  // namespace fathom
