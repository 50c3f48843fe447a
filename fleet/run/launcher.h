#pragma once

#include <optional>
#include <string>

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

}  // namespace fathom
