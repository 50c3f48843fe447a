#include "harness/energy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <thread>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "results/error.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_windows = 4;

/// A batch of launches is long against an event and short against a step of the counter; as many are
/// queued ahead as outlast a host that is held up.
constexpr double batch_s = 0.004;
constexpr std::size_t batches_ahead = 10;
constexpr int most_launches_per_batch = 64;

/// A step is seen up to this late.
constexpr auto poll_period = std::chrono::microseconds(500);

/// How long the last step is waited for.
constexpr double grace_s = 1;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double work_until(std::span<const WorkMark> marks, double seconds) {
  const auto after = std::ranges::lower_bound(marks, seconds, {}, &WorkMark::seconds);
  if (after == marks.begin()) return marks.front().work;
  const WorkMark &a = *(after - 1), &b = *after;
  return a.work + (b.work - a.work) * (seconds - a.seconds) / (b.seconds - a.seconds);
}

/// The steps of the energy counter as they come.
class StepWatch {
 public:
  StepWatch(const TelemetrySampler& telemetry, Clock::time_point start)
      : telemetry_(telemetry), start_(start), last_(telemetry.energy_j()) {
    if (!last_) {
      throw Error(ExitCode::counters_unavailable,
                  "The GPU's energy counter cannot be read through NVML: GPUs before Volta, and "
                  "guests of a virtualised GPU, have none.");
    }
  }

  void poll() {
    const double before = since(start_);
    const std::optional<double> joules = telemetry_.energy_j();
    if (!joules || *joules == *last_) return;
    last_ = joules;
    // The counter had moved when the answer was made, which was in the middle of the call at a guess.
    steps_.push_back({(before + since(start_)) / 2, *joules});
  }

  const std::vector<EnergyStep>& steps() const { return steps_; }

 private:
  const TelemetrySampler& telemetry_;
  Clock::time_point start_;
  std::optional<double> last_;
  std::vector<EnergyStep> steps_;
};

/// Keeps launches queued and notes when they ended.
class LaunchQueue {
 public:
  LaunchQueue(const std::function<void()>& launch, cudaStream_t stream, Clock::time_point start)
      : launch_(launch), stream_(stream), origin_(make_event()) {
    record(origin_);
    FATHOM_CUDA(cudaEventSynchronize(origin_.get()));
    origin_s_ = since(start);
    marks_.push_back({origin_s_, 0});
    // How many make a batch: known from one launch.
    launch_one_batch();
    drain();
    const double one = std::max(marks_.back().seconds - marks_.front().seconds, 1e-6);
    per_batch_ = std::clamp(static_cast<int>(std::ceil(batch_s / one)), 1, most_launches_per_batch);
  }

  void keep_full() {
    collect();
    while (pending_.size() < batches_ahead) launch_one_batch();
  }

  void drain() {
    FATHOM_CUDA(cudaStreamSynchronize(stream_));
    collect();
  }

  const std::vector<WorkMark>& marks() const { return marks_; }
  std::int64_t launches() const { return launches_; }

 private:
  struct Batch {
    Event end;
    std::int64_t launches;  ///< until its end
  };

  void record(const Event& event) { FATHOM_CUDA(cudaEventRecord(event.get(), stream_)); }

  void launch_one_batch() {
    for (int i = 0; i < per_batch_; ++i) launch_();
    launches_ += per_batch_;
    Event end;
    if (spare_.empty()) {
      end = make_event();
    } else {
      end = std::move(spare_.back());
      spare_.pop_back();
    }
    record(end);
    pending_.push_back({std::move(end), launches_});
  }

  void collect() {
    while (!pending_.empty()) {
      const cudaError_t status = cudaEventQuery(pending_.front().end.get());
      if (status == cudaErrorNotReady) return;
      FATHOM_CUDA(status);
      float ms = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&ms, origin_.get(), pending_.front().end.get()));
      marks_.push_back(
          {origin_s_ + ms * 1e-3, static_cast<double>(pending_.front().launches)});
      spare_.push_back(std::move(pending_.front().end));
      pending_.pop_front();
    }
  }

  const std::function<void()>& launch_;
  cudaStream_t stream_;
  Event origin_;
  double origin_s_ = 0;
  int per_batch_ = 1;
  std::int64_t launches_ = 0;
  std::deque<Batch> pending_;
  std::vector<Event> spare_;
  std::vector<WorkMark> marks_;
};

}  // namespace

std::vector<EnergyReading> energy_windows(std::span<const EnergyStep> steps,
                                          std::span<const WorkMark> marks, double from,
                                          std::size_t most) {
  std::vector<EnergyStep> used;
  for (const EnergyStep& step : steps) {
    const bool known =
        marks.empty() || (step.seconds >= marks.front().seconds && step.seconds <= marks.back().seconds);
    if (step.seconds >= from && known) used.push_back(step);
  }
  std::vector<EnergyReading> windows;
  if (used.size() < 2) return windows;
  const std::size_t intervals = used.size() - 1, count = std::min(most, intervals);
  for (std::size_t w = 0; w < count; ++w) {
    const EnergyStep& first = used[w * intervals / count];
    const EnergyStep& last = used[(w + 1) * intervals / count];
    EnergyReading reading{last.joules - first.joules, last.seconds - first.seconds, 0};
    if (!marks.empty()) {
      reading.work = work_until(marks, last.seconds) - work_until(marks, first.seconds);
    }
    windows.push_back(reading);
  }
  return windows;
}

EnergyReading total(std::span<const EnergyReading> windows) {
  EnergyReading sum;
  for (const EnergyReading& window : windows) {
    sum.joules += window.joules;
    sum.seconds += window.seconds;
    sum.work += window.work;
  }
  return sum;
}

EnergyRun EnergyMeter::run(const std::function<void()>& launch, const EnergyLoop& loop) {
  const auto start = Clock::now();
  StepWatch watch(telemetry_, start);
  std::optional<LaunchQueue> queue;
  if (launch) queue.emplace(launch, stream_, start);
  bool settled = false;
  const double end = loop.settle_s + loop.seconds;
  // The part that counts ends with a step: the first one after the loop's time.
  while (since(start) < end + grace_s) {
    if (queue) queue->keep_full();
    watch.poll();
    if (!settled && since(start) >= loop.settle_s) {
      telemetry_.start();
      settled = true;
    }
    if (!watch.steps().empty() && watch.steps().back().seconds >= end) break;
    std::this_thread::sleep_for(poll_period);
  }
  EnergyRun result;
  if (settled) result.telemetry = telemetry_.stop();
  if (queue) {
    queue->drain();
    result.launches = queue->launches();
  }
  result.windows = energy_windows(watch.steps(), queue ? queue->marks() : std::vector<WorkMark>{},
                                  loop.settle_s, most_windows);
  if (result.windows.empty()) {
    throw Error(ExitCode::counters_unavailable,
                "The GPU's energy counter did not move while it was watched: its energy cannot be "
                "measured.");
  }
  const EnergyReading whole = total(result.windows);
  if (whole.work > 0) result.launch_s = whole.seconds / whole.work;
  result.elapsed_s = since(start);
  return result;
}

}  // namespace fathom
