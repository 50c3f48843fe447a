#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/file_descriptor.h"
#include "fleet/run/measure.h"
#include "fleet/rank/mpi_ranks.h"
#include "fleet/run/parcel.h"

namespace fathom {

/// What every rank learns of rank 0.
struct Agreed {
  std::string run{};            ///< stamped into all that they leave; empty: rank 0 cannot write
  bool shares_storage = false;  ///< whether this one writes to the storage of rank 0
  ExitCode failure = ExitCode::ok;  ///< at rank 0, why it cannot write
  FileDescriptor claim{};           ///< at rank 0, what keeps other ranks' jobs out of the folder
};

/// Rank 0 claims the folder, which another job of ranks must not write into at the same time: they
/// agree on names by MPI, and the other's are the same. Then it leaves a file in the folder `root`,
/// and each looks for it. All ranks must come here.
Agreed agree(const MpiJob& job, const std::filesystem::path& root);

/// This rank's documents; only the summary where rank 0 sees the rest itself. `leader`: of its
/// host, which has the links.
Parcel parcel_of(const std::vector<GpuJob>& jobs, const FleetFolder& folder, bool leader,
                 bool shared);

}  // namespace fathom
