#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/file_descriptor.h"

namespace fathom {

/// What a supervisor hears of its rank: that MPI has connected it with the others. With that word
/// come the rank's connections to its launcher, and the supervisor keeps them open: Slurm's PMIx
/// ends all tasks of a step as soon as one closes its own, which the death of the rank would do.
class RankLink {
 public:
  /// Throws Error(setup_incomplete) where the system has no socket left.
  RankLink();

  /// The rank's end, which is to stay open in it, and how it finds it.
  int rank_end() const { return rank_end_.get(); }
  std::pair<std::string, std::string> variable() const;

  /// Reads what the rank has said.
  void drain();
  bool connected() const { return connected_; }

 private:
  FileDescriptor own_end_, rank_end_;
  std::vector<FileDescriptor> kept_;
  bool connected_ = false;
};

/// In the supervisor, before it ends: tells MPICH's mpirun (Hydra) that the end of this rank is
/// none for the others, as MPI_Finalize would have. Hydra kills them otherwise, and ends with 9, or
/// with 0. Does nothing under other launchers, or where the rank has told it so itself.
void take_leave_of_hydra();

/// In the rank, once MPI has connected it and it has opened no connection of its own. Does nothing
/// where no supervisor has started it.
void tell_supervisor_of_connection();

}  // namespace fathom
