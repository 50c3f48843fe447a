#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/commands/fleet_commands.h"
#include "fleet/fleet.h"
#include "results/file_descriptor.h"
#include "tools/child_process.h"
#include "tools/device_query.h"

namespace fathom {

/// What a GPU has of its own in a fleet's folder.
std::filesystem::path gpu_folder(const std::filesystem::path& root, const fleet::GpuSummary& gpu);

/// What tells one run from those before it and beside it: random digits.
std::string new_run();

/// One GPU that this process measures, and what is known of it so far.
struct GpuJob {
  std::optional<VisibleGpu> gpu;  ///< nothing in a replay
  bool only_visible = false;      ///< this process sees no other: what it runs needs no mask
  std::size_t place = 0;          ///< its turn among the GPUs of its host that are measured
  fleet::GpuSummary summary;
};

/// The job of a GPU, before anything was measured; without one, of a replay.
GpuJob job_of(const std::optional<VisibleGpu>& gpu, const std::string& host, std::size_t number,
              std::optional<int> rank = std::nullopt);

/// Says in each job's summary what counters its suite is to collect: all, `counters_of`, or none
/// and why. A host's GPUs are dealt the probes in turn, in the order in which they run: each probe
/// has one GPU, and two neighbours have different ones. Follows from the flags, the suite and the
/// GPU's place among the host's `gpus`, so that ranks need not ask each other.
void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs);

/// A program on the job's GPU and the CPUs near it, with its output into a log.
ChildStart start_of(const GpuJob& job, const std::filesystem::path& program, int log,
                    std::vector<std::string> arguments);

/// A lock on a file that is made for it, held until what comes back is closed; nothing: another
/// process has it. Storage without locks gives one to everybody: that is no reason not to measure.
std::optional<FileDescriptor> lock_file(const std::filesystem::path& file);

/// Gives the job of a GPU a number that no other GPU of its host's name has in this folder, whoever
/// else writes there at the same time: that of an earlier run of the same GPU, else the first that
/// is free from its own on. What comes back holds the place until it is closed; nothing: another
/// process measures this GPU into it now. Throws Error(output_unwritable) or Error(output_full).
std::optional<FileDescriptor> claim_folder(const std::filesystem::path& root, GpuJob& job);

}  // namespace fathom
