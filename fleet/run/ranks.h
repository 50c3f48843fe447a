#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/run/measure.h"

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

/// What a rank says of itself before all measure.
struct RankWord {
  int leader = 0;         ///< the first rank of its host; MPI knows it
  std::string host{};     ///< its name as the machine or the user has it
  std::string barrier{};  ///< file of its HostBarrier
  /// UUIDs of the GPUs that it sees, a MIG device's with `mig_mark` before it.
  std::vector<std::string> gpus{};
  /// Rank 0 decides for all; no folder: there is nowhere to write.
  std::string run{}, out{};
};

/// CUDA_VISIBLE_DEVICES has a MIG device's UUID in another way.
inline constexpr std::string_view mig_mark = "MIG ";

/// Tells all ranks what each of them says, by MPI. Throws Error(setup_incomplete) where they do not
/// come together, without a sentence where MPI has said one.
std::vector<RankWord> exchange(const Launcher& launcher, const std::filesystem::path& root,
                               const RankWord& own, SignalInbox& inbox);

/// The ranks of one host, in their order.
std::vector<std::size_t> ranks_of_host(const std::vector<RankWord>& all, std::size_t rank);

/// What a rank sees, or why it sees nothing.
struct SeenGpus {
  std::vector<VisibleGpu> gpus{};
  std::string problem{};
  int code = to_int(ExitCode::incomplete);
};

/// The GPUs that a rank takes: the only rank of a host all that it sees; else each the first one
/// that no rank before it has. So ranks that see the same GPUs take them in order, and ranks that a
/// launcher has given their own each take theirs. A rank without a GPU has a job that says why. A
/// process without a launcher is the only rank. A host's name gets a number where another host's
/// ranks have the same one. Says in `host` what GPUs the host has in all ranks. `seen`: not looked
/// at in a replay.
std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments,
                                 const std::vector<RankWord>& all, std::size_t rank,
                                 const SeenGpus& seen, Host& host);

/// What a rank of a job leaves on the storage that all share (ranks/<rank>.note): before it
/// measures, and again at its end. One that ends in between has left why in the first.
struct RankNote {
  std::string run{};  ///< which job it is of
  int size = 1;       ///< of the job
  std::string host{};
  std::string reason{};  ///< a clause; empty: nothing went wrong beside its GPUs' own summaries
  int exit_code = 0;
  bool ended = false;
};

/// What cannot be written is said on standard error, and nothing else is lost.
void leave_note(const std::filesystem::path& root, int rank, const RankNote& note);

/// Nothing where there is none, or none that can be read.
std::optional<RankNote> read_note(const std::filesystem::path& root, int rank);

/// Adds to a fleet what went wrong with the ranks of a job, of which rank 0's note is `first`; a
/// rank without a note of it is told, too; nothing where it was no job of ranks. Goes to the row of
/// the rank's GPU where it has one that is not complete, since one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::filesystem::path& root,
                       const std::optional<RankNote>& first);

}  // namespace fathom
