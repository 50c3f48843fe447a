#include "harness/energy.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/energy_steps.h"
#include "harness/launch_queue.h"
#include "results/error.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_windows = 4;

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

EnergyRun EnergyMeter::run(const std::function<void()>& launch, const EnergyLoop& loop) {
  const auto start = Clock::now();
  StepWatch watch(telemetry_, start);
  if (!watch.counts()) {
    throw Error(ExitCode::counters_unavailable,
                "The GPU's energy counter cannot be read through NVML: GPUs before Volta, and "
                "guests of a virtualised GPU, have none.");
  }
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
    std::this_thread::sleep_for(step_poll_period);
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
