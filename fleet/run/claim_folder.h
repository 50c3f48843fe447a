#pragma once

#include <optional>

#include "results/file_descriptor.h"
#include "fleet/run/measure.h"

namespace fathom {

/// Makes a file that is not there yet, which of several processes only one can; false where it is.
/// Throws Error(output_unwritable) or Error(output_full).
bool make_file(const std::filesystem::path& file, const std::string& text);

/// A lock on a file that is made for it, held until what comes back is closed; nothing: another
/// process has it. Storage without locks gives one to everybody: that is no reason not to measure.
std::optional<FileDescriptor> lock_file(const std::filesystem::path& file);

/// Whether this GPU has left a summary under its host's name in this folder.
bool was_measured(const FleetFolder& folder, const GpuJob& job);

/// Gives the job of a GPU a number that no other GPU of its host's name has in this folder, whoever
/// else writes there at the same time: that of an earlier run of the same GPU, else the first that
/// is free from its own on. What comes back holds the place until it is closed; nothing: another
/// process measures this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const FleetFolder& folder, GpuJob& job);

}  // namespace fathom
