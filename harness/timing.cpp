#include "harness/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "harness/buffer_kernels.h"
#include "harness/counters/counters_active.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/timing_kernels.h"
#include "results/statistics.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Longer than queueing one group can take, short enough to be met once without harm.
constexpr std::uint64_t wait_limit_ns = 500'000'000;

/// The L2 read buffer in multiples of the L2: one multiple would leave lines where the replacement
/// policy is not LRU.
constexpr std::size_t flush_multiple = 4;

constexpr int max_launches_per_sample = 512;

/// Queued samples of one group; more would only make the host queue longer.
constexpr int group_samples = 4;

}  // namespace

struct Sampler::State {
  const DeviceFacts& device;
  cudaStream_t stream;
  std::vector<Event> events;
  PinnedMemory<int> flags = make_pinned_memory<int>(2);  // release, timed out
  DeviceMemory<std::byte> flush_buffer;
  std::size_t flush_bytes = 0;
  DeviceMemory<int> sink = make_device_memory<int>(1);
  bool blocking = true;

  State(const DeviceFacts& facts, cudaStream_t s) : device(facts), stream(s) {}

  Event& event(std::size_t i) {
    while (events.size() <= i) events.push_back(make_event());
    return events[i];
  }

  void flush() {
    if (flush_buffer == nullptr) {
      flush_bytes = std::max<std::size_t>(device.l2_bytes, 1 << 20) * flush_multiple;
      flush_buffer = make_device_memory<std::byte>(flush_bytes);
      fill_random_data(flush_buffer.get(), flush_bytes, Fill::random_bits, 1, stream);
    }
    launch_read_all(flush_buffer.get(), flush_bytes, sink.get(), stream);
  }

  void hold_back() {
    if (!blocking) return;
    volatile int* flag = flags.get();
    flag[0] = 0;
    flag[1] = 0;
    launch_wait_for_host(flag, flag + 1, wait_limit_ns, stream);
  }

  /// False if the launches behind did not wait for the host, so that their times hold its latency.
  bool release() {
    if (blocking) static_cast<volatile int*>(flags.get())[0] = 1;
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    if (!blocking || static_cast<volatile int*>(flags.get())[1] == 0) return true;
    blocking = false;  // a tool serialises launches here: do without from now on
    return false;
  }
};

namespace {

/// A workload made ready to be sampled: alone, or several launches in one graph.
struct Prepared {
  const Workload* workload;
  int launches = 1;
  GraphExec graph;

  void launch(cudaStream_t stream) const {
    if (graph != nullptr) {
      FATHOM_CUDA(cudaGraphLaunch(graph.get(), stream));
    } else {
      for (int i = 0; i < launches; ++i) workload->launch();
    }
  }
};

GraphExec capture(const Workload& workload, int launches, cudaStream_t stream) {
  FATHOM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    for (int i = 0; i < launches; ++i) workload.launch();
  } catch (...) {
    cudaGraph_t abandoned = nullptr;
    cudaStreamEndCapture(stream, &abandoned);
    if (abandoned != nullptr) cudaGraphDestroy(abandoned);
    throw;
  }
  cudaGraph_t graph = nullptr;
  FATHOM_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  FATHOM_CUDA(status);
  return GraphExec(exec);
}

bool narrow_enough(const std::vector<std::vector<double>>& samples, const TimingPolicy& policy) {
  return std::all_of(samples.begin(), samples.end(), [&](const std::vector<double>& s) {
    const Interval interval = median_interval(s, 0.95);
    return (interval.high - interval.low) / 2 <= policy.target_relative_half_width * median(s);
  });
}

}  // namespace

Sampler::Sampler(const DeviceFacts& device, cudaStream_t stream)
    : state_(std::make_unique<State>(device, stream)) {
  // Load both kernels now: lazy loading behind the waiting kernel would wait for it.
  state_->flush();
  static_cast<volatile int*>(state_->flags.get())[0] = 1;
  launch_wait_for_host(state_->flags.get(), state_->flags.get() + 1, 0, stream);
  FATHOM_CUDA(cudaStreamSynchronize(stream));
}

Sampler::~Sampler() = default;

void Sampler::flush_l2() { state_->flush(); }

Samples Sampler::sample(std::span<const Workload* const> workloads, CacheState cache,
                        const TimingPolicy& policy) {
  if (counters_active()) throw std::logic_error("timing while hardware counters are collected");
  State& s = *state_;
  const auto start = Clock::now();
  Samples result;
  result.of_workload.resize(workloads.size());
  result.round_medians.resize(workloads.size());
  const bool in_kernel = static_cast<bool>(workloads[0]->read_sample);
  const bool cold = cache == CacheState::cold;

  // Elapsed seconds of each of `order`'s workloads, launched in that order, one event pair each.
  std::vector<Prepared> prepared;
  for (const Workload* workload : workloads) prepared.push_back({workload, 1, nullptr});
  const auto run_group = [&](std::span<const std::size_t> order) {
    std::vector<double> seconds(order.size());
    bool valid = false;
    while (!valid) {
      s.hold_back();
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (cold) s.flush();
        FATHOM_CUDA(cudaEventRecord(s.event(2 * i).get(), s.stream));
        prepared[order[i]].launch(s.stream);
        FATHOM_CUDA(cudaEventRecord(s.event(2 * i + 1).get(), s.stream));
      }
      valid = s.release();
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      float ms = 0;
      FATHOM_CUDA(
          cudaEventElapsedTime(&ms, s.event(2 * i).get(), s.event(2 * i + 1).get()));
      seconds[i] = ms * 1e-3 / prepared[order[i]].launches;
    }
    return seconds;
  };

  // Warm up, and find out how many launches make a sample long enough.
  int warm_up = 0;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    const std::size_t thrice[] = {w, w, w};
    const std::vector<double> seconds = run_group(thrice);
    warm_up += 3;
    if (cold || in_kernel) continue;
    const double fastest = *std::min_element(seconds.begin(), seconds.end());
    if (fastest < policy.min_sample_s) {
      const double wanted = policy.min_sample_s / std::max(fastest, 1e-6);
      prepared[w].launches = std::clamp(static_cast<int>(std::ceil(wanted)), 1,
                                        max_launches_per_sample);
      prepared[w].graph = capture(*workloads[w], prepared[w].launches, s.stream);
      run_group(std::span(&w, 1));  // the first replay uploads the graph
    }
  }

  std::vector<std::size_t> order;
  if (in_kernel) {
    order = {0};
  } else if (workloads.size() == 1) {
    order.assign(group_samples, 0);
  } else {  // A B C C B A
    for (std::size_t w = 0; w < workloads.size(); ++w) order.push_back(w);
    for (std::size_t w = workloads.size(); w-- > 0;) order.push_back(w);
  }

  const char* stop = nullptr;
  for (int round = 0; round < policy.rounds; ++round) {
    const std::size_t first = result.of_workload[0].size();
    // Every round gets its share, so that the last one is not starved by the stopping rule.
    const std::size_t round_min =
        std::max<std::size_t>(1, static_cast<std::size_t>(policy.min_samples / policy.rounds));
    while (true) {
      const std::vector<double> seconds = run_group(order);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t w = order[i];
        result.of_workload[w].push_back(in_kernel ? workloads[w]->read_sample() : seconds[i]);
        if (w == 0) result.seconds.push_back(seconds[i]);
      }
      const std::size_t taken = result.of_workload[0].size();
      if (taken - first < round_min) continue;
      const bool last = round + 1 == policy.rounds;
      if (!last) break;
      if (narrow_enough(result.of_workload, policy)) stop = "converged";
      if (taken >= static_cast<std::size_t>(policy.max_samples)) stop = stop ? stop : "sample limit";
      if (seconds_since(start) > policy.time_limit_s) stop = stop ? stop : "time limit";
      if (stop != nullptr) break;
    }
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      const auto& all = result.of_workload[w];
      result.round_medians[w].push_back(median(std::span(all).subspan(first)));
    }
    if (round + 1 < policy.rounds) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  const int launches = prepared[0].launches;
  result.timing.mode = in_kernel ? "in-kernel clock" : cold ? "cold" : launches > 1 ? "graph" : "hot";
  // Said openly: such times hold some launch latency.
  if (!s.blocking && !in_kernel) result.timing.mode += ", launches not held back";
  result.timing.timer = in_kernel ? "clock64" : "cudaEvent";
  result.timing.launches_per_sample = launches;
  result.timing.warm_up_launches = warm_up;
  result.timing.stop = stop;
  result.timing.elapsed_s = seconds_since(start);
  return result;
}

}  // namespace fathom
