#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/run/host_barrier.h"
#include "fleet/run/jobs.h"

namespace fathom {

/// What a process knows of its host.
struct Host {
  std::size_t gpus = 1;  ///< that are measured, in all its processes
  /// All of them, as CUDA_VISIBLE_DEVICES has them, this process' first; empty: those that this
  /// process sees.
  std::string visible_devices{};
  bool leader = true;  ///< measures the links
  HostBarrier barrier{};
};

/// What one of a GPU's runs left, and what its end says of it.
struct PartResult {
  std::optional<Document> document;
  fleet::GpuStatus status = fleet::GpuStatus::complete;
  std::string reason;  ///< why figures are missing, or what else went wrong
  int exit_code = 0;   ///< of a failed check or refused counters beside complete figures too
};

/// Never throws for what is missing or cannot be read. `limit_s`: what it was given.
PartResult result_of(const SupervisedEnd& end, const std::filesystem::path& document,
                     const std::filesystem::path& log, double limit_s);

/// Measures the jobs' GPUs, each alone and all together, then what links them; writes each summary
/// (gpu.json) after each part, so that whatever ends this process costs no more than a part. Throws
/// nothing for what fails: the others of its host wait for this process at each part. Returns what
/// could not be written.
std::optional<fleet::Problem> measure_host(const FleetRunArguments& arguments,
                                           std::vector<GpuJob>& jobs, Host& host,
                                           SignalInbox& inbox);

}  // namespace fathom
