#pragma once

#include <optional>
#include <vector>

#include "tools/device_query.h"
#include "fleet/run/measure.h"
#include "fleet/rank/mpi_ranks.h"

namespace fathom {

/// This rank's GPUs: all that it sees where it is its host's only one, else the one that it takes
/// (assign_gpus). A rank without one has a job that says why. All ranks of the host must come
/// here; tells `turns` what GPUs the host has in all of them. `gpus`: nothing for a replay.
std::vector<GpuJob> jobs_of_rank(const FleetRunArguments& arguments, int rank, MpiHostTurns& turns,
                                 std::optional<GpusQuery>& gpus);

}  // namespace fathom
