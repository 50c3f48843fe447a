#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <span>
#include <vector>

#include "harness/probe.h"
#include "harness/telemetry.h"

// The GPU under lasting load, and the energy that it takes.

namespace fathom {

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

/// What one workload did in one turn under load.
struct SustainedTurn {
  double seconds = 0;  ///< of one launch, over the whole turn, by events
  /// From the first to the last step of the energy counter after the turn settled, `work` in
  /// launches; nothing where the GPU counts no energy, or the counter stood still.
  std::optional<EnergyReading> energy;
  std::optional<double> sm_clock_hz;  ///< over the whole turn
};

/// Turns of each workload, in the order taken.
using SustainedTurns = std::vector<std::vector<SustainedTurn>>;

/// Joules of one launch.
struct SustainedEnergy {
  double joules = 0;      ///< of all turns, over all their launches
  double half_width = 0;  ///< of the median turn's interval (95 % from six turns on), over `joules`
};

/// From the turns whose energy is known; nothing if there are none.
std::optional<SustainedEnergy> energy_of(std::span<const SustainedTurn> turns);

/// Keeps the GPU under load: the first workload for `load.lead_in_s` unmeasured, so that clocks and
/// power have settled, then every workload in turn for `load.turn_s` with next to no pause. Each
/// must have been launched before. Throws std::invalid_argument where a turn is shorter than half a
/// second: the energy counter moves every 100 ms or so.
SustainedTurns run_sustained(std::span<const Workload> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry);

}  // namespace fathom
