#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <span>
#include <vector>

#include "harness/energy.h"
#include "harness/probe.h"
#include "harness/telemetry.h"

namespace fathom {

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

/// Whose turn it is: A B C C B A, and so on.
std::vector<std::size_t> turn_order(std::size_t workloads, int turns);

/// Keeps the GPU under load: the first workload for `load.lead_in_s` unmeasured, so that clocks and
/// power have settled, then every workload in turn for `load.turn_s` with next to no pause. Each
/// must have been launched before. Throws std::invalid_argument where a turn is shorter than half a
/// second: the energy counter moves every 100 ms or so.
SustainedTurns run_sustained(std::span<const Workload* const> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry);

}  // namespace fathom
