#include "harness/energy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "harness/counters/catalogue.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/host_timer.h"
#include "harness/runner.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_windows = 4;

/// How long the last step is waited for.
constexpr double grace_s = 1;

/// A step of the energy counter is seen up to this late by who polls as often.
constexpr auto step_poll_period = std::chrono::microseconds(500);

/// A batch of launches is long against an event and short against a step of the energy counter; as
/// many are queued ahead as outlast a host that is held up, and no more: somebody waits for their
/// end.
constexpr double batch_s = 0.004, ahead_s = 0.04;
constexpr double fewest_batches_ahead = 2, most_batches_ahead = 10;
constexpr int most_launches_per_batch = 64;

/// The steps of the energy counter as they come, in seconds since a start.
class StepWatch {
 public:
  StepWatch(const TelemetrySampler& telemetry, Clock::time_point start)
      : telemetry_(telemetry), start_(start), last_(telemetry.energy_j()) {}

  /// Whether the GPU has such a counter; without one there are no steps.
  bool counts() const { return last_.has_value(); }

  void poll() {
    if (!counts()) return;
    const double before = seconds_since(start_);
    const std::optional<double> joules = telemetry_.energy_j();
    if (!joules || *joules == *last_) return;
    last_ = joules;
    // The counter had moved when the answer was made, which was in the middle of the call at a
    // guess.
    steps_.push_back({(before + seconds_since(start_)) / 2, *joules});
  }

  const std::vector<EnergyStep>& steps() const { return steps_; }

 private:
  const TelemetrySampler& telemetry_;
  Clock::time_point start_;
  std::optional<double> last_;
  std::vector<EnergyStep> steps_;
};

/// Keeps launches queued ahead of the GPU, in batches, and notes when each batch ended, by events.
class LaunchQueue {
 public:
  /// Launches once, to know how many make a batch. Marks are in seconds since `start`, the first of
  /// them before that launch. `launch` is asynchronous on the stream, has been launched before, and
  /// outlives the queue.
  LaunchQueue(const std::function<void()>& launch, cudaStream_t stream, Clock::time_point start)
      : launch_(launch), stream_(stream), origin_(make_event()) {
    FATHOM_CUDA(cudaEventRecord(origin_.get(), stream_));
    FATHOM_CUDA(cudaEventSynchronize(origin_.get()));
    origin_s_ = seconds_since(start);
    marks_.push_back({origin_s_, 0});
    launch_one_batch();
    drain();
    const double one = std::max(marks_.back().seconds - marks_.front().seconds, 1e-6);
    per_batch_ = std::clamp(static_cast<int>(std::ceil(batch_s / one)), 1, most_launches_per_batch);
    most_pending_ = static_cast<std::size_t>(std::clamp(std::ceil(ahead_s / (one * per_batch_)),
                                                        fewest_batches_ahead, most_batches_ahead));
  }

  void keep_full() {
    collect();
    while (pending_.size() < most_pending_) launch_one_batch();
  }
  /// Batches that have not ended.
  std::size_t pending() {
    collect();
    return pending_.size();
  }
  /// Waits for all.
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

  void launch_one_batch() {
    for (int i = 0; i < per_batch_; ++i) launch_();
    launches_ += per_batch_;
    if (spare_.empty()) spare_.push_back(make_event());
    Event end = std::move(spare_.back());
    spare_.pop_back();
    FATHOM_CUDA(cudaEventRecord(end.get(), stream_));
    pending_.push_back({std::move(end), launches_});
  }

  void collect() {
    while (!pending_.empty()) {
      Batch& first = pending_.front();
      const cudaError_t status = cudaEventQuery(first.end.get());
      if (status == cudaErrorNotReady) return;
      FATHOM_CUDA(status);
      float ms = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&ms, origin_.get(), first.end.get()));
      marks_.push_back({origin_s_ + ms * 1e-3, static_cast<double>(first.launches)});
      spare_.push_back(std::move(first.end));
      pending_.pop_front();
    }
  }

  const std::function<void()>& launch_;
  cudaStream_t stream_;
  Event origin_;
  double origin_s_ = 0;
  int per_batch_ = 1;
  std::size_t most_pending_ = 1;
  std::int64_t launches_ = 0;
  std::deque<Batch> pending_;
  std::vector<Event> spare_;
  std::vector<WorkMark> marks_;
};

double work_until(std::span<const WorkMark> marks, double seconds) {
  const auto after = std::ranges::lower_bound(marks, seconds, {}, &WorkMark::seconds);
  if (after == marks.begin()) return marks.front().work;
  const WorkMark &a = *(after - 1), &b = *after;
  return a.work + (b.work - a.work) * (seconds - a.seconds) / (b.seconds - a.seconds);
}

}  // namespace

std::vector<EnergyReading> energy_windows(std::span<const EnergyStep> steps,
                                          std::span<const WorkMark> marks, double from,
                                          std::size_t most) {
  std::vector<EnergyStep> used;
  for (const EnergyStep& step : steps) {
    const bool known = marks.empty() || (step.seconds >= marks.front().seconds &&
                                         step.seconds <= marks.back().seconds);
    if (step.seconds >= from && known) used.push_back(step);
  }
  std::vector<EnergyReading> windows;
  if (used.size() < 2) return windows;
  const std::size_t intervals = used.size() - 1, count = std::min(most, intervals);
  for (std::size_t w = 0; w < count; ++w) {
    const EnergyStep& first = used[w * intervals / count];
    const EnergyStep& last = used[(w + 1) * intervals / count];
    EnergyReading reading{last.joules - first.joules, last.seconds - first.seconds, 0};
    if (!marks.empty())
      reading.work = work_until(marks, last.seconds) - work_until(marks, first.seconds);
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
  return SustainedEnergy{one, relative_half_width(median_interval(joules), one)};
}

SustainedTurns run_sustained(std::span<const Workload> workloads, const SustainedLoad& load,
                             cudaStream_t stream, const TelemetrySampler& telemetry) {
  if (!(load.turn_s >= 0.5))
    throw std::invalid_argument("a turn under load must last half a second at least");
  if (counters_active()) throw std::logic_error("timing while hardware counters are collected");
  // One clock and one look at the energy counter, whose steps keep no turns.
  const auto start = Clock::now();
  StepWatch watch(telemetry, start);
  SmClock clock(stream);
  const auto poll = [&] {
    watch.poll();
    std::this_thread::sleep_for(step_poll_period);
  };
  const auto take = [&](const Workload& workload, double seconds, double settle_s) {
    clock.begin();
    LaunchQueue queue(workload.launch, stream, start);
    const double begin = queue.marks().front().seconds;
    while (seconds_since(start) < begin + seconds) {
      queue.keep_full();
      poll();
    }
    while (queue.pending() > 1) poll();  // to the last step that there is
    queue.drain();
    clock.end();
    const std::vector<WorkMark>& marks = queue.marks();
    SustainedTurn turn;
    turn.seconds = (marks.back().seconds - begin) / marks.back().work;
    turn.sm_clock_hz = clock.hertz();
    const auto whole = energy_windows(watch.steps(), marks, begin + settle_s, 1);
    if (!whole.empty()) turn.energy = whole.front();
    return turn;
  };
  if (load.lead_in_s > 0) take(workloads[0], load.lead_in_s, load.lead_in_s);
  SustainedTurns turns(workloads.size());
  for (const std::size_t w : turn_order(workloads.size(), load.turns))
    turns[w].push_back(take(workloads[w], load.turn_s, load.settle_s));
  return turns;
}

Samples Runner::sample_under_load(const Case& c, const std::vector<Workload>& workloads,
                                  Entry& entry) {
  telemetry_.start();
  const auto& load = std::get<SustainedLoad>(c.mode);
  const SustainedTurns turns = run_sustained(workloads, load, stream_.get(), telemetry_);
  Samples samples;
  samples.telemetry = telemetry_.stop();
  samples.of_workload.resize(turns.size());
  for (std::size_t w = 0; w < turns.size(); ++w) {
    for (const SustainedTurn& turn : turns[w]) samples.of_workload[w].push_back(turn.seconds);
    const std::string of = w == 0 ? "" : ":" + c.opponents[w - 1].name;
    if (const auto energy = energy_of(turns[w])) {
      entry.extras["joules" + of] = energy->joules;
      entry.extras["joules_half_width" + of] = energy->half_width;
    }
  }
  samples.seconds = samples.of_workload[0];
  for (const SustainedTurn& turn : turns[0])
    if (turn.sm_clock_hz) samples.sm_clocks_hz.push_back(*turn.sm_clock_hz);
  // There and back is a round.
  const std::span<const double> seconds = samples.seconds;
  for (std::size_t i = 0; i < seconds.size(); i += 2) {
    samples.medians.push_back(
        median(seconds.subspan(i, std::min(seconds.size() - i, std::size_t{2}))));
  }
  samples.timing.mode = "sustained";
  samples.timing.timer = "cudaEvent";
  samples.timing.stop = "time limit";
  samples.timing.launches_per_sample =
      static_cast<int>(std::max(1.0, load.turn_s / median(samples.seconds)));
  samples.timing.elapsed_s =
      load.lead_in_s + load.turns * load.turn_s * static_cast<double>(turns.size());
  return samples;
}

Runner::Wrong Runner::measure_energy(const Case& c, Entry& entry) {
  context_.buffers().set_placement(0);
  const Workload workload = c.prepare(context_);
  if (workload.launch)
    if (const Wrong wrong = check_output(workload)) return wrong;
  const auto& launch = workload.load ? workload.load : workload.launch;
  if (workload.load) {  // loaded before it is queued
    launch();
    FATHOM_CUDA(cudaStreamSynchronize(stream_.get()));
  }

  const EnergyLoop& loop = std::get<EnergyLoop>(c.mode);
  const auto start = Clock::now();
  StepWatch watch(telemetry_, start);
  if (!watch.counts())
    fail(ExitCode::counters_unavailable,
         "The GPU's energy counter cannot be read through NVML: GPUs before Volta, and guests of a "
         "virtualised GPU, have none.");
  std::optional<LaunchQueue> queue;
  if (launch) queue.emplace(launch, stream_.get(), start);
  bool settled = false;
  const double end = loop.settle_s + loop.seconds;
  // The part that counts ends with a step: the first one after the loop's time.
  while (seconds_since(start) < end + grace_s) {
    if (queue) queue->keep_full();
    watch.poll();
    if (!settled && seconds_since(start) >= loop.settle_s) {
      telemetry_.start();
      settled = true;
    }
    if (!watch.steps().empty() && watch.steps().back().seconds >= end) break;
    std::this_thread::sleep_for(step_poll_period);
  }
  const Telemetry seen = settled ? telemetry_.stop() : Telemetry{};
  if (queue) queue->drain();
  std::vector<EnergyReading> windows = energy_windows(
      watch.steps(), queue ? queue->marks() : std::vector<WorkMark>{}, loop.settle_s, most_windows);
  if (windows.empty())
    fail(ExitCode::counters_unavailable,
         "The GPU's energy counter did not move while it was watched: its energy cannot be "
         "measured.");
  entry.timing.elapsed_s = seconds_since(start);
  entry.telemetry = seen;

  const EnergyReading in_launches = total(windows);
  const bool works = loop.work > 0;
  for (EnergyReading& window : windows) {
    window.work *= loop.work;
    entry.samples.push_back(works ? window.joules / window.work : window.watts());
  }
  entry.metric.value = median(entry.samples);
  entry.interval = median_interval(entry.samples);
  const EnergyReading whole = total(windows);
  entry.extras["power_w"] = whole.watts();
  entry.extras["loop_s"] = whole.seconds;
  if (works) entry.extras["work_per_s"] = whole.work / whole.seconds;
  if (loop.figures) entry.extras.merge(loop.figures(whole));
  entry.real_time_s = whole.seconds / (in_launches.work > 0 ? in_launches.work : 1);
  entry.iterations = std::max<std::int64_t>(queue ? queue->launches() : 0, 1);
  entry.timing.mode = "energy loop";
  entry.timing.timer = "NVML energy counter";
  entry.timing.stop = "time limit";
  // The loop's own output: what is wrong only under load must not become a figure.
  Wrong wrong;
  if (workload.verify) wrong = workload.load ? check_output(workload) : workload.verify();
  return wrong ? wrong : context_.buffers().guards_intact();
}

}  // namespace fathom
