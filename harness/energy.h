#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/telemetry.h"
#include "results/document.h"

namespace fathom {

/// What the GPU took over some time, and what it did in it.
struct EnergyReading {
  double joules = 0;
  double seconds = 0;
  double work = 0;  ///< in the loop's own unit; 0 where nothing ran

  double watts() const { return joules / seconds; }
};

/// A case that is measured by its energy: its workload runs without a gap for seconds on end, since
/// the GPU's energy counter moves only every 100 ms or so. The metric is joules per `work`.
struct EnergyLoop {
  double work = 0;       ///< of one launch: bytes, FLOPs, ...; 0: the metric is the power in watts
  double seconds = 0.8;  ///< of the part that counts: eight steps of the counter, two a window
  /// Before it: clocks settle, and the counter's averages forget what was before.
  double settle_s = 0.35;
  /// Further figures of the entry, from the whole part that counts; may be empty.
  std::function<std::map<std::string, double>(const EnergyReading& whole)> figures;
};

/// The energy counter has moved: it read `joules` from `seconds` on, by the host's clock.
struct EnergyStep {
  double seconds = 0;
  double joules = 0;
};

/// All that was done until `seconds`.
struct WorkMark {
  double seconds = 0;
  double work = 0;
};

/// Cuts the time from the first to the last step that is not before `from` into up to `most`
/// windows of a like number of steps, each from one step to another, so that no part of an update
/// counts in it. `marks` are in order of time; between two of them work goes on evenly, and what is
/// outside of them is not used. Fewer than two such steps give no window.
std::vector<EnergyReading> energy_windows(std::span<const EnergyStep> steps,
                                          std::span<const WorkMark> marks, double from,
                                          std::size_t most);

/// The sum of windows.
EnergyReading total(std::span<const EnergyReading> windows);

/// What one loop gave.
struct EnergyRun {
  std::vector<EnergyReading> windows;  ///< at least one; `work` in launches
  Telemetry telemetry;                 ///< of the part that counts
  std::int64_t launches = 0;
  double launch_s =
      0;  ///< seconds of one launch, mean of the part that counts; 0 where nothing ran
  double elapsed_s = 0;
};

/// Runs one. `launch` is asynchronous on the stream and has been launched before; empty: nothing
/// runs. Launches are queued ahead of the GPU. Ends by itself, at the latest a second after the
/// loop's time. Throws Error(counters_unavailable) where the GPU has no energy counter, or one that
/// stands still.
EnergyRun run_energy_loop(const std::function<void()>& launch, const EnergyLoop& loop,
                          cudaStream_t stream, TelemetrySampler& telemetry);

}  // namespace fathom
