#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/run/measure.h"
#include "results/file_descriptor.h"

namespace fathom {

// Which host's name and which folder a GPU has, where several jobs may write into one folder.

/// A lock on a file that is made for it, held until what comes back is closed; nothing: another
/// process has it. Storage without locks gives one to everybody: that is no reason not to measure.
std::optional<FileDescriptor> lock_file(const std::filesystem::path& file);

/// Gives the job of a GPU a number that no other GPU of its host's name has in this folder, whoever
/// else writes there at the same time: that of an earlier run of the same GPU, else the first that
/// is free from its own on. What comes back holds the place until it is closed; nothing: another
/// process measures this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const FleetFolder& folder, GpuJob& job);

/// What tells this machine from others of its name, for as long as it is up: FATHOM_MACHINE where
/// it is set, else the kernel's boot id, which all of a machine's containers share. Empty: not
/// known.
std::string machine_id();

/// Gives the jobs a host's name that no other machine has in this folder, whoever else writes
/// there: their own, or that with a number behind it; and the machine, which after a restart stays
/// what it was: one under whose name one of these GPUs has been measured is the same. Returns the
/// name. Throws Error(output_unwritable) or Error(output_full).
std::string claim_host_name(const FleetFolder& folder, const std::string& name,
                            const std::string& machine, std::vector<GpuJob>& jobs);

}  // namespace fathom
