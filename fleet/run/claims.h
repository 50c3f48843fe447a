#pragma once

#include <optional>

#include "fleet/run/jobs.h"
#include "results/file_descriptor.h"

namespace fathom {

// Which folder a GPU has, where several jobs may write into one.

/// A lock on a file that is made for it, held until what comes back is closed; nothing: another
/// process has it. Storage without locks gives one to everybody: that is no reason not to measure.
std::optional<FileDescriptor> lock_file(const std::filesystem::path& file);

/// Gives the job of a GPU a number that no other GPU of its host's name has in this folder, whoever
/// else writes there at the same time: that of an earlier run of the same GPU, else the first that
/// is free from its own on. What comes back holds the place until it is closed; nothing: another
/// process measures this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const std::filesystem::path& root, GpuJob& job);

}  // namespace fathom
