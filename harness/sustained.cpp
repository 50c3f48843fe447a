#include "harness/sustained.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "harness/counters/counters_active.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double shortest_turn_s = 0.5;
/// Launches queued at a time: long enough that the GPU never waits for the host, short enough that a
/// turn ends in time.
constexpr double batch_s = 0.02;
constexpr int most_launches_of_a_batch = 4096;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds that a launch takes, roughly.
double estimate(const Workload& workload, cudaStream_t stream) {
  const Event start = make_event(), end = make_event();
  FATHOM_CUDA(cudaEventRecord(start.get(), stream));
  workload.launch();
  FATHOM_CUDA(cudaEventRecord(end.get(), stream));
  FATHOM_CUDA(cudaEventSynchronize(end.get()));
  float milliseconds = 0;
  FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
  return std::max(milliseconds * 1e-3, 1e-6);
}

/// Launches without a pause, always one batch ahead of the GPU, for that long.
SustainedTurn keep_busy(const Workload& workload, double seconds, int batch, cudaStream_t stream,
                        const TelemetrySampler& telemetry) {
  const Event start = make_event(), end = make_event();
  Event done[2] = {make_event(), make_event()};
  const std::optional<double> joules_before = telemetry.energy_j();
  const auto begin = Clock::now();
  FATHOM_CUDA(cudaEventRecord(start.get(), stream));
  std::int64_t launches = 0;
  for (int turn = 0; turn < 2 || seconds_since(begin) < seconds; ++turn) {
    Event& marker = done[turn % 2];
    if (turn >= 2) FATHOM_CUDA(cudaEventSynchronize(marker.get()));
    for (int i = 0; i < batch; ++i) workload.launch();
    launches += batch;
    FATHOM_CUDA(cudaEventRecord(marker.get(), stream));
  }
  FATHOM_CUDA(cudaEventRecord(end.get(), stream));
  FATHOM_CUDA(cudaEventSynchronize(end.get()));
  const std::optional<double> joules_after = telemetry.energy_j();
  float milliseconds = 0;
  FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
  SustainedTurn result;
  result.seconds = milliseconds * 1e-3 / static_cast<double>(launches);
  if (joules_before && joules_after)
    result.joules = (*joules_after - *joules_before) / static_cast<double>(launches);
  return result;
}

}  // namespace

SustainedTurns run_sustained(std::span<const Workload* const> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry) {
  if (!(load.turn_s >= shortest_turn_s))
    throw std::invalid_argument("a turn under load must last half a second at least");
  if (counters_active()) throw std::logic_error("timing while hardware counters are collected");
  std::vector<int> batches;
  for (const Workload* workload : workloads) {
    const double launches = std::ceil(batch_s / estimate(*workload, stream));
    batches.push_back(static_cast<int>(std::clamp(launches, 1.0, double{most_launches_of_a_batch})));
  }
  if (load.lead_in_s > 0) keep_busy(*workloads[0], load.lead_in_s, batches[0], stream, telemetry);
  SustainedTurns turns(workloads.size());
  const auto take_turn = [&](std::size_t w) {
    turns[w].push_back(keep_busy(*workloads[w], load.turn_s, batches[w], stream, telemetry));
  };
  for (std::size_t w = 0; w < workloads.size(); ++w) take_turn(w);
  for (std::size_t w = workloads.size(); w-- > 0;) take_turn(w);
  return turns;
}

}  // namespace fathom
