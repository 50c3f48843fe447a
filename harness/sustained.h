#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <span>
#include <vector>

#include "harness/probe.h"
#include "harness/telemetry.h"

namespace fathom {

/// What one workload did in one turn under load.
struct SustainedTurn {
  double seconds = 0;            ///< of one launch, over the whole turn, by events
  std::optional<double> joules;  ///< of one launch; nothing where the GPU counts no energy
};

/// Turns of each workload, in the order taken.
using SustainedTurns = std::vector<std::vector<SustainedTurn>>;

/// Keeps the GPU under load: the first workload for `load.lead_in_s` unmeasured, so that clocks and power have
/// settled, then every workload in turn (A B C C B A) for `load.turn_s` without a pause. Each must have
/// been launched before. Throws std::invalid_argument where a turn is shorter than what the energy
/// counter, which moves every 100 ms or so, can tell to a fifth: half a second.
SustainedTurns run_sustained(std::span<const Workload* const> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry);

}  // namespace fathom
