#include "harness/energy.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/cuda_check.h"
#include "harness/energy_steps.h"
#include "harness/host_timer.h"
#include "harness/launch_queue.h"
#include "harness/runner.h"
#include "results/statistics.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_windows = 4;

/// How long the last step is waited for.
constexpr double grace_s = 1;

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

EnergyRun run_energy_loop(const std::function<void()>& launch, const EnergyLoop& loop,
                          cudaStream_t stream, TelemetrySampler& telemetry) {
  const auto start = Clock::now();
  StepWatch watch(telemetry, start);
  if (!watch.counts()) {
    throw Error(ExitCode::counters_unavailable,
                "The GPU's energy counter cannot be read through NVML: GPUs before Volta, and "
                "guests of a virtualised GPU, have none.");
  }
  std::optional<LaunchQueue> queue;
  if (launch) queue.emplace(launch, stream, start);
  bool settled = false;
  const double end = loop.settle_s + loop.seconds;
  // The part that counts ends with a step: the first one after the loop's time.
  while (seconds_since(start) < end + grace_s) {
    if (queue) queue->keep_full();
    watch.poll();
    if (!settled && seconds_since(start) >= loop.settle_s) {
      telemetry.start();
      settled = true;
    }
    if (!watch.steps().empty() && watch.steps().back().seconds >= end) break;
    std::this_thread::sleep_for(step_poll_period);
  }
  EnergyRun result;
  if (settled) result.telemetry = telemetry.stop();
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
  result.elapsed_s = seconds_since(start);
  return result;
}

// The runner's way with cases that are measured by their energy.

namespace {

/// The metric of one window: joules per unit of work, or watts.
double in_metric(const EnergyLoop& loop, const EnergyReading& reading) {
  return loop.work > 0 ? reading.joules / reading.work : reading.watts();
}

void report(const EnergyLoop& loop, EnergyRun run, Entry& entry) {
  const bool works = loop.work > 0;
  for (EnergyReading& window : run.windows) {
    window.work *= loop.work;
    entry.samples.push_back(in_metric(loop, window));
  }
  entry.metric.value = median(entry.samples);
  entry.interval = median_interval(entry.samples, 0.95);
  const EnergyReading whole = total(run.windows);
  entry.extras["energy_j"] = whole.joules;
  entry.extras["power_w"] = whole.watts();
  entry.extras["loop_s"] = whole.seconds;
  if (works) entry.extras["work_per_s"] = whole.work / whole.seconds;
  if (loop.figures) entry.extras.merge(loop.figures(whole));
  entry.real_time_s = run.launch_s > 0 ? run.launch_s : whole.seconds;
  entry.iterations = std::max<std::int64_t>(run.launches, 1);
  entry.telemetry = run.telemetry;
  entry.timing.mode = "energy loop";
  entry.timing.timer = "NVML energy counter";
  entry.timing.stop = "time limit";
  entry.timing.elapsed_s = run.elapsed_s;
}

}  // namespace

Runner::Wrong Runner::measure_energy(const Case& c, Entry& entry) {
  context_.buffers().set_placement(0);
  const Workload workload = c.prepare(context_);
  Wrong wrong;
  if (workload.launch) wrong = check_output(workload);
  if (wrong) return wrong;
  const auto& launch = workload.load ? workload.load : workload.launch;
  if (workload.load) {  // loaded before it is queued
    launch();
    FATHOM_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  const EnergyLoop& loop = std::get<EnergyLoop>(c.mode);
  report(loop, run_energy_loop(launch, loop, stream_.get(), telemetry_), entry);
  // The loop's own output: what is wrong only under load must not become a figure.
  if (workload.verify) wrong = workload.load ? check_output(workload) : workload.verify();
  if (!wrong) wrong = context_.buffers().guards_intact();
  return wrong;
}

}  // namespace fathom
