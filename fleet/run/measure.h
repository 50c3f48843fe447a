#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fleet/commands/fleet_commands.h"
#include "fleet/fleet.h"
#include "fleet/run/host_barrier.h"
#include "tools/child_process.h"
#include "tools/device_query.h"

namespace fathom {

/// What a GPU has of its own in a fleet's folder.
std::filesystem::path gpu_folder(const std::filesystem::path& root, const fleet::GpuSummary& gpu);

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
/// (gpu.json) after each part, so that whatever ends this process costs no more than a part.
class HostMeasurement {
 public:
  HostMeasurement(const FleetRunArguments& arguments, std::vector<GpuJob>& jobs, Host& host,
                  SignalInbox& inbox);

  /// Throws nothing for what fails: the others of its host wait for this process at each part.
  /// Returns what could not be written.
  std::optional<fleet::Problem> run();

 private:
  struct BriefRun;
  /// A run that is told to stop ends its probe first, which has five seconds itself.
  static constexpr std::chrono::milliseconds stop_grace{15'000};
  static Supervision within(std::chrono::milliseconds limit) {
    return {.limit = limit, .grace = stop_grace, .line = {}};
  }

  void measure_suite_alone();
  /// Short probes on every GPU, all made ready at the same time: in turn, then at once.
  void measure_briefs();
  /// A run of `fathom run` on each GPU: "alone" and "suite", or of the first GPU alone: "links".
  void run_part(const std::vector<GpuJob*>& jobs, fleet::Phase phase, const std::string& part);
  /// On the job's GPU and the CPUs near it; without arguments yet.
  ChildStart start_of(const GpuJob& job, const std::filesystem::path& program, int log) const;
  /// Adds what a part has left to the summary, and writes it. The status of the part "suite" is the
  /// GPU's; any other costs its own figures only.
  void take(GpuJob& job, const PartResult& result, fleet::Phase phase, const std::string& part);
  void note_not_alone(GpuJob& job);
  void note(GpuJob& job, fleet::GpuStatus status, const std::string& reason, int exit_code);
  void write(const GpuJob& job);
  void write(const GpuJob& job, const std::filesystem::path& file, const std::string& text);
  /// Whether the host's other processes have come here, too.
  bool all_here() { return host_.barrier.all_here(inbox_); }
  bool stopped() const { return inbox_.interrupts() > 0; }
  std::chrono::milliseconds limit() const {
    return std::chrono::milliseconds(static_cast<long>(1000 * arguments_.time_limit_s));
  }

  const FleetRunArguments& arguments_;
  const std::filesystem::path& root_;
  std::vector<GpuJob>& jobs_;
  Host& host_;
  SignalInbox& inbox_;
  std::filesystem::path program_;  ///< `fathom`
  std::optional<fleet::Problem> unwritten_;
};

/// Says in each job's summary what counters its suite is to collect: all, `counters_of`, or none
/// and why. A host's GPUs are dealt the probes in turn, in the order in which they run: each probe
/// has one GPU, and two neighbours have different ones. Follows from the flags, the suite and the
/// GPU's place among the host's `gpus`, so that ranks need not ask each other.
void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs);

/// What tells one run from those before it and beside it: random digits.
std::string new_run();

}  // namespace fathom
