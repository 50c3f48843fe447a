#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/run/launcher.h"
#include "fleet/run/measure.h"

namespace fathom {

/// What a rank says of itself before all measure.
struct RankWord {
  int leader = 0;         ///< the first rank of its host; MPI knows it
  std::string host{};     ///< its name as the machine or the user has it
  std::string barrier{};  ///< file of its HostBarrier
  struct Gpu {
    std::string uuid;
    bool mig = false;
  };
  std::vector<Gpu> gpus{};  ///< that it sees
  /// Rank 0 decides for all; no folder: there is nowhere to write.
  std::string run{}, out{};
};

/// Throws Error(setup_incomplete) where Fathom was built without it.
void require_mpi(const Launcher& launcher);

/// Tells all ranks what each of them says, by MPI. Throws Error(setup_incomplete) where they do not
/// come together, without a sentence where MPI has said one.
std::vector<RankWord> exchange(const Launcher& launcher, const std::filesystem::path& root,
                               const RankWord& own, SignalInbox& inbox);

std::string to_line(const RankWord& word);
/// Reads "<leader> <line>". Throws nlohmann's exceptions for what is none.
RankWord parse_word(const std::string& line);

/// The ranks of one host, in their order.
std::vector<std::size_t> ranks_of_host(const std::vector<RankWord>& all, std::size_t rank);

/// The host's name; where another host's ranks have the same one, that with a number.
std::string unique_host_name(const std::vector<RankWord>& all, std::size_t rank);

/// Which of the GPUs that it sees each rank of a host takes, as places among those: the only rank
/// all of them; else each the first one that no rank before it has, or none. So ranks that see the
/// same GPUs take them in order, and ranks that a launcher has given their own each take theirs.
std::vector<std::vector<std::size_t>> assign_gpus(const std::vector<RankWord>& host);

/// What a rank sees, or why it sees nothing.
struct SeenGpus {
  std::vector<VisibleGpu> gpus{};
  std::string problem{};
  int code = to_int(ExitCode::incomplete);
};

/// The GPUs that a rank takes. A process without a launcher is the only rank. A rank without a GPU
/// has a job that says why. Says in `host` what GPUs the host has in all ranks. `seen`: not looked
/// at in a replay.
std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments,
                                 const std::vector<RankWord>& all, std::size_t rank,
                                 const SeenGpus& seen, Host& host);

}  // namespace fathom
