#pragma once

#include <optional>

#include "results/file_descriptor.h"
#include "tools/fleet/measure.h"

namespace fathom {

/// Gives the job of a GPU a number that no other GPU of its host's name has in this folder, whoever
/// else writes there at the same time: that of an earlier run of the same GPU, else the first that
/// is free. What comes back holds the place until it is closed; nothing: another process measures
/// this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const FleetFolder& folder, GpuJob& job);

}  // namespace fathom
