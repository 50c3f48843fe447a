#pragma once

#include <optional>
#include <string>

#include "fleet/commands/fleet_commands.h"
#include "results/exit_codes.h"

namespace fathom {

/// What started this process as one of several ranks, from the variables that it sets.
struct Launcher {
  std::string name;  ///< "Open MPI", "MPICH or Slurm's PMI", "Slurm"
  int rank = 0, size = 1;
};

/// Nothing for a process that was started by itself, or as the only rank.
std::optional<Launcher> find_launcher();

/// The name by which Slurm knows this node, where srun itself has started this process as one of
/// several; else empty. What another launcher's ranks have in their environment may be another
/// node's.
std::string slurm_node();

/// One rank of several: it measures its GPU in a child, and rank 0 reports what all have left on
/// storage that they share. Throws Error(setup_incomplete) where they do not find each other.
ExitCode run_rank(const FleetRunArguments& arguments, const Launcher& launcher);

}  // namespace fathom
