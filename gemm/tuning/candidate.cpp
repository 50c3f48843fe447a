#include "gemm/tuning/candidate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/graphs.h"
#include "harness/sm_clock.h"
#include "harness/sustained.h"
#include "harness/telemetry.h"

namespace fathom::gemm {
namespace {

constexpr auto pause = std::chrono::milliseconds(10);
constexpr int unmeasured_launches = 2;
constexpr double short_launch_s = 2e-4, graph_launch_s = 1e-4;
constexpr int graph_launches = 50;

class Burst {
 public:
  explicit Burst(cudaStream_t stream) : stream_(stream), clock_(stream) {}

  struct Result {
    double seconds = 0;
    std::optional<double> hertz;
  };
  Result time(const Workload& workload, int launches, int unmeasured = unmeasured_launches) {
    for (int i = 0; i < unmeasured; ++i) workload.launch();
    clock_.begin();
    FATHOM_CUDA(cudaEventRecord(start_.get(), stream_));
    for (int i = 0; i < launches; ++i) workload.launch();
    FATHOM_CUDA(cudaEventRecord(end_.get(), stream_));
    clock_.end();
    FATHOM_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start_.get(), end_.get()));
    return {milliseconds * 1e-3 / launches, clock_.hertz()};
  }

  /// The same of a graph of so many launches, which replays once unmeasured.
  Result time(cudaGraphExec_t graph, int launches) {
    const Workload replay{.launch = [=, this] { FATHOM_CUDA(cudaGraphLaunch(graph, stream_)); }};
    Result found = time(replay, 1, 1);
    found.seconds /= launches;
    return found;
  }

 private:
  cudaStream_t stream_;
  Event start_ = make_event(), end_ = make_event();
  SmClock clock_;
};

}  // namespace

void time_bursts(std::span<Candidate> candidates, int rounds, cudaStream_t stream) {
  Burst burst(stream);
  double shortest = std::numeric_limits<double>::infinity();
  for (const Candidate& c : candidates)
    shortest = std::min(shortest, burst.time(c.workload, 1).seconds);
  const int launches = shortest < short_launch_s ? 10 : 3;
  std::vector<GraphExec> graphs;
  if (shortest < graph_launch_s) {
    for (const Candidate& c : candidates) {
      graphs.push_back(capture_graph(
          [&] {
            for (int i = 0; i < graph_launches; ++i) c.workload.launch();
          },
          stream));
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t turn = round % 2 == 0 ? i : candidates.size() - 1 - i;
      Candidate& c = candidates[turn];
      std::this_thread::sleep_for(pause);
      const Burst::Result found = graphs.empty() ? burst.time(c.workload, launches)
                                                 : burst.time(graphs[turn].get(), graph_launches);
      c.seconds.push_back(found.seconds);
      if (found.hertz) c.hertz.push_back(*found.hertz);
    }
  }
}

void time_sustained(std::span<Candidate> candidates, cudaStream_t stream) {
  const TelemetrySampler telemetry(0);
  std::vector<const Workload*> workloads;
  for (const Candidate& c : candidates) workloads.push_back(&c.workload);
  const double turn_s = candidates.size() <= 5 ? 1.0 : 0.5;
  const SustainedTurns turns =
      run_sustained(workloads, {.lead_in_s = 1, .turn_s = turn_s, .turns = 2}, stream, telemetry);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (const SustainedTurn& turn : turns[i]) {
      candidates[i].seconds.push_back(turn.seconds);
      if (turn.sm_clock_hz) candidates[i].hertz.push_back(*turn.sm_clock_hz);
      if (turn.energy) candidates[i].joules.push_back(turn.energy->joules / turn.energy->work);
    }
  }
}

}  // namespace fathom::gemm
