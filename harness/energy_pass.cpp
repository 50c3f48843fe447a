#include <algorithm>

#include "harness/cuda_check.h"
#include "harness/runner.h"
#include "results/statistics.h"

// The runner's way with cases that are measured by their energy.

namespace fathom {
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

Entry Runner::measure_energy(const std::string& entry_name, const std::string& probe,
                             const Case& c) {
  const auto fill = [&](Entry& entry) {
    context_.buffers().set_placement(0);
    const Workload workload = c.prepare(context_);
    std::optional<std::string> wrong;
    if (workload.launch) wrong = check_output(workload);
    if (wrong) return wrong;
    const auto& launch = workload.load ? workload.load : workload.launch;
    if (workload.load) {  // loaded before it is queued
      launch();
      FATHOM_CUDA(cudaStreamSynchronize(stream_.get()));
    }
    const EnergyLoop& loop = std::get<EnergyLoop>(c.mode);
    report(loop, EnergyMeter(telemetry_, stream_.get()).run(launch, loop), entry);
    // The loop's own output: what is wrong only under load must not become a figure.
    if (workload.verify) wrong = workload.load ? check_output(workload) : workload.verify();
    if (!wrong) wrong = context_.buffers().guards_intact();
    return wrong;
  };
  return entry_by(fill, entry_name, probe, c);
}

}  // namespace fathom
