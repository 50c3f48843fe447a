#include "harness/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "harness/buffers.h"
#include "harness/counters/catalogue.h"
#include "harness/cuda_check.h"
#include "harness/host_timer.h"
#include "results/statistics.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

/// Longer than queueing one group can take, short enough to be met once without harm.
constexpr std::uint64_t wait_limit_ns = 500'000'000;

/// The L2 read buffer in multiples of the L2: one multiple would leave lines where the replacement
/// policy is not LRU.
constexpr std::size_t flush_multiple = 4;

constexpr int max_launches_per_sample = 512;

/// Queued samples of one group; more would only make the host queue longer.
constexpr int group_samples = 4;

/// After so many groups in a row that ran into the wait's limit, launches are not held back any
/// more. One alone may be a host that was busy; a tool that serialises launches stops every one.
constexpr int stalls_until_serialised = 2;

/// A workload made ready to be sampled: alone, or several launches in one graph.
struct Prepared {
  const Workload* workload;
  int launches = 1;
  GraphExec graph;

  void launch(cudaStream_t stream) const {
    if (graph != nullptr)
      FATHOM_CUDA(cudaGraphLaunch(graph.get(), stream));
    else
      for (int i = 0; i < launches; ++i) workload->launch();
  }
};

}  // namespace

std::optional<double> clock_between(std::span<const SmStamp> before,
                                    std::span<const SmStamp> after) {
  constexpr unsigned long long shortest_ns = 50'000;
  double sum = 0;
  int sms = 0;
  for (std::size_t sm = 0; sm < std::min(before.size(), after.size()); ++sm) {
    const SmStamp &from = before[sm], &to = after[sm];
    if (from.nanoseconds == 0 || to.nanoseconds < from.nanoseconds + shortest_ns) continue;
    if (to.cycles <= from.cycles) continue;
    sum += static_cast<double>(to.cycles - from.cycles) /
           (static_cast<double>(to.nanoseconds - from.nanoseconds) * 1e-9);
    ++sms;
  }
  return sms == 0 ? std::nullopt : std::optional(sum / sms);
}

SmClock::SmClock(cudaStream_t stream)
    : stream_(stream), stamps_(make_pinned_memory<SmStamp>(2 * most_sms)) {
  begin();
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
}

void SmClock::begin() {
  std::fill_n(stamps_.get(), 2 * most_sms, SmStamp{});
  launch_stamp_sms(stamps_.get(), stream_);
}

void SmClock::end() { launch_stamp_sms(stamps_.get() + most_sms, stream_); }

std::optional<double> SmClock::hertz() const {
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
  return clock_between({stamps_.get(), most_sms}, {stamps_.get() + most_sms, most_sms});
}

Event& Sampler::event(std::size_t i) {
  while (events_.size() <= i) events_.push_back(make_event());
  return events_[i];
}

void Sampler::flush_l2() {
  if (flush_buffer_ == nullptr) {
    flush_bytes_ = std::max<std::size_t>(device_.l2_bytes, 1 << 20) * flush_multiple;
    flush_buffer_ = make_device_memory<std::byte>(flush_bytes_);
    fill_random_data(flush_buffer_.get(), flush_bytes_, Fill::random_bits, 1, stream_);
  }
  launch_read_all(flush_buffer_.get(), flush_bytes_, sink_.get(), stream_);
}

void Sampler::hold_back() {
  if (!blocking_) return;
  volatile int* flag = flags_.get();
  flag[0] = 0;
  flag[1] = 0;
  launch_wait_for_host(flag, flag + 1, wait_limit_ns, stream_);
}

bool Sampler::release() {
  if (blocking_) static_cast<volatile int*>(flags_.get())[0] = 1;
  FATHOM_CUDA(cudaStreamSynchronize(stream_));
  const bool stalled = blocking_ && static_cast<volatile int*>(flags_.get())[1] != 0;
  stalls_ = stalled ? stalls_ + 1 : 0;
  if (stalls_ == stalls_until_serialised) blocking_ = false;
  return !stalled;
}

bool narrow_enough(const std::vector<std::vector<double>>& samples, double relative_half_width) {
  return std::all_of(
      samples.begin(), samples.end(),
      [&](const std::vector<double>& s) {
        const Interval interval = median_interval(s);
        return (interval.high - interval.low) / 2 <= relative_half_width * std::abs(median(s));
      });
}

std::vector<std::size_t> turn_order(std::size_t workloads, int turns) {
  std::vector<std::size_t> order;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < workloads; ++i)
      order.push_back(turn % 2 == 0 ? i : workloads - 1 - i);
  return order;
}

Sampler::Sampler(const DeviceFacts& device, cudaStream_t stream)
    : device_(device), stream_(stream), clock_(stream) {
  // Load both kernels now: lazy loading behind the waiting kernel would wait for it.
  flush_l2();
  static_cast<volatile int*>(flags_.get())[0] = 1;
  launch_wait_for_host(flags_.get(), flags_.get() + 1, 0, stream);
  FATHOM_CUDA(cudaStreamSynchronize(stream));
}

Samples Sampler::sample(std::span<const Workload> workloads, CacheState cache,
                        const TimingPolicy& policy, std::span<const int> launches) {
  if (counters_active()) throw std::logic_error("timing while hardware counters are collected");
  const auto start = Clock::now();
  Samples result;
  result.of_workload.resize(workloads.size());
  const bool in_kernel = static_cast<bool>(workloads[0].read_sample);
  const bool cold = cache == CacheState::cold;
  const bool host_paced = std::ranges::any_of(workloads, &Workload::host_paced);

  // A group that the host paces holds gaps, and a kernel that reads its own clocks needs no others.
  const bool stamped = !in_kernel && !host_paced;

  // Elapsed seconds of each of `order`'s workloads, launched in that order, one event pair each.
  std::vector<Prepared> prepared;
  for (const Workload& workload : workloads) prepared.push_back({&workload, 1, nullptr});
  const auto run_group = [&](std::span<const std::size_t> order) {
    std::vector<double> seconds(order.size());
    bool valid = false;
    while (!valid) {
      if (!host_paced) hold_back();
      if (stamped) clock_.begin();  // outside of all events, as is the end
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (cold) flush_l2();
        FATHOM_CUDA(cudaEventRecord(event(2 * i).get(), stream_));
        prepared[order[i]].launch(stream_);
        FATHOM_CUDA(cudaEventRecord(event(2 * i + 1).get(), stream_));
      }
      if (stamped) clock_.end();
      if (host_paced) FATHOM_CUDA(cudaStreamSynchronize(stream_));
      valid = host_paced || release();
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      float ms = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&ms, event(2 * i).get(), event(2 * i + 1).get()));
      seconds[i] = ms * 1e-3 / prepared[order[i]].launches;
    }
    return seconds;
  };

  // Warm up, and find out how many launches make a sample long enough.
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    const std::size_t thrice[] = {w, w, w};
    const std::vector<double> seconds = run_group(thrice);
    result.timing.warm_up_launches += 3;
    if (!launches.empty()) {
      prepared[w].launches = launches[w];
    } else if (!cold && !in_kernel && !host_paced && workloads[w].capturable) {
      const double fastest = *std::min_element(seconds.begin(), seconds.end());
      const double wanted = policy.min_sample_s / std::max(fastest, 1e-6);
      prepared[w].launches =
          std::clamp(static_cast<int>(std::ceil(wanted)), 1, max_launches_per_sample);
    }
    if (prepared[w].launches > 1) {
      prepared[w].graph = capture_graph(
          [&] {
            for (int i = 0; i < prepared[w].launches; ++i) workloads[w].launch();
          },
          stream_);
      run_group(std::span(&w, 1));  // the first replay uploads the graph
    }
    result.launches.push_back(prepared[w].launches);
  }

  if (in_kernel && workloads.size() > 1)
    throw std::logic_error("opponents of a kernel that times itself");
  const int turns_of_each = in_kernel ? 1 : workloads.size() == 1 ? group_samples : 2;
  const std::vector<std::size_t> order = turn_order(workloads.size(), turns_of_each);

  const auto note_clock = [&] {
    if (!stamped) return;
    if (const auto hertz = clock_.hertz()) result.sm_clocks_hz.push_back(*hertz);
  };
  // One of each of `order`'s workloads; the last of each tells how long to rest before its next.
  std::vector<double> last(workloads.size(), 0);
  const auto run_order = [&] {
    std::vector<double> seconds;
    if (!(policy.rest > 0)) {
      seconds = run_group(order);
      note_clock();
      return seconds;
    }
    for (const std::size_t& w : order) {
      std::this_thread::sleep_for(std::chrono::duration<double>(policy.rest * last[w]));
      seconds.push_back(run_group(std::span(&w, 1)).front());
      if (w == 0) note_clock();
      last[w] = seconds.back() * prepared[w].launches;
    }
    return seconds;
  };
  // Beside opponents a sample of short launches is the mean of both turns in a group: on an H200
  // those of 3 us differ by 7 % between them, and the median of two kinds of samples is a matter of
  // chance.
  const bool paired = workloads.size() > 1 && std::ranges::any_of(prepared, [](const Prepared& p) {
                        return p.launches > 1;
                      });
  const int turns = paired ? 2 : 1;
  while (result.timing.stop.empty()) {
    const std::vector<double> seconds = run_order();
    for (std::size_t i = 0; i < order.size() / turns; ++i) {
      const std::size_t w = order[i];
      const double sample =
          turns == 1 ? seconds[i] : (seconds[i] + seconds[order.size() - 1 - i]) / 2;
      result.of_workload[w].push_back(in_kernel ? workloads[w].read_sample() : sample);
      if (w == 0) result.seconds.push_back(sample);
    }
    const std::size_t taken = turns * result.of_workload[0].size();
    if (taken < static_cast<std::size_t>(std::max(1, policy.min_samples))) continue;
    // One sample has no width, so that it would pass for a sure median.
    if (result.of_workload[0].size() < 2 && policy.max_samples > 1) continue;
    if (narrow_enough(result.of_workload, policy.target_relative_half_width))
      result.timing.stop = "converged";
    else if (taken >= static_cast<std::size_t>(policy.max_samples))
      result.timing.stop = "sample limit";
    else if (seconds_since(start) > policy.time_limit_s)
      result.timing.stop = "time limit";
  }

  result.timing.launches_per_sample = turns * prepared[0].launches;
  if (policy.rest > 0) result.timing.rest = policy.rest;
  const std::string& sample_timer = workloads[0].sample_timer;
  const bool by_host = in_kernel && sample_timer == host_timer_name;
  result.timing.mode = by_host                    ? "host clock"
                       : in_kernel                ? "in-kernel clock"
                       : cold                     ? "cold"
                       : prepared[0].launches > 1 ? "graph"
                                                  : "hot";
  // Said openly: such times hold some launch latency.
  if ((!blocking_ || host_paced) && !in_kernel) result.timing.mode += ", launches not held back";
  result.timing.timer = in_kernel ? sample_timer : "cudaEvent";
  result.timing.elapsed_s = seconds_since(start);
  return result;
}

}  // namespace fathom
