#include "harness/sustained.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/counters/counters_active.h"
#include "harness/energy_steps.h"
#include "harness/host_timer.h"
#include "harness/launch_queue.h"
#include "harness/sm_clock.h"
#include "results/statistics.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double shortest_turn_s = 0.5;

/// One turn after another, by one clock and with one look at the energy counter, since its steps
/// keep no turns.
class Turns {
 public:
  Turns(cudaStream_t stream, const TelemetrySampler& telemetry)
      : stream_(stream), watch_(telemetry, start_), clock_(stream) {}

  SustainedTurn take(const Workload& workload, double seconds, double settle_s) {
    clock_.begin();
    LaunchQueue queue(workload.launch, stream_, start_);
    const double begin = queue.marks().front().seconds;
    const auto poll = [&] {
      watch_.poll();
      std::this_thread::sleep_for(step_poll_period);
    };
    while (seconds_since(start_) < begin + seconds) {
      queue.keep_full();
      poll();
    }
    while (queue.pending() > 1) poll();  // to the last step that there is
    queue.drain();
    clock_.end();
    const std::vector<WorkMark>& marks = queue.marks();
    SustainedTurn turn;
    turn.seconds = (marks.back().seconds - begin) / marks.back().work;
    turn.sm_clock_hz = clock_.hertz();
    const auto whole = energy_windows(watch_.steps(), marks, begin + settle_s, 1);
    if (!whole.empty()) turn.energy = whole.front();
    return turn;
  }

 private:
  const Clock::time_point start_ = Clock::now();
  cudaStream_t stream_;
  StepWatch watch_;
  SmClock clock_;
};

}  // namespace

std::optional<SustainedEnergy> energy_of(std::span<const SustainedTurn> turns) {
  std::vector<EnergyReading> readings;
  std::vector<double> joules;
  for (const SustainedTurn& turn : turns) {
    if (!turn.energy) continue;
    readings.push_back(*turn.energy);
    joules.push_back(turn.energy->joules / turn.energy->work);
  }
  if (readings.empty()) return std::nullopt;
  const EnergyReading all = total(readings);
  const double one = all.joules / all.work;
  return SustainedEnergy{one, relative_half_width(median_interval(joules, 0.95), one)};
}

std::vector<std::size_t> turn_order(std::size_t workloads, int turns) {
  std::vector<std::size_t> order;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < workloads; ++i)
      order.push_back(turn % 2 == 0 ? i : workloads - 1 - i);
  return order;
}

SustainedTurns run_sustained(std::span<const Workload* const> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry) {
  if (!(load.turn_s >= shortest_turn_s))
    throw std::invalid_argument("a turn under load must last half a second at least");
  if (counters_active()) throw std::logic_error("timing while hardware counters are collected");
  Turns turns(stream, telemetry);
  if (load.lead_in_s > 0) turns.take(*workloads[0], load.lead_in_s, load.lead_in_s);
  SustainedTurns taken(workloads.size());
  for (const std::size_t w : turn_order(workloads.size(), load.turns))
    taken[w].push_back(turns.take(*workloads[w], load.turn_s, load.settle_s));
  return taken;
}

}  // namespace fathom
