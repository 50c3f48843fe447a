#include "harness/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "results/statistics.h"

namespace fathom {
namespace {

/// After these no further call to the GPU can succeed in this process.
bool leaves_gpu_unusable(ExitCode code) {
  return code == ExitCode::gpu_lost || code == ExitCode::probe_crashed;
}

double relative_spread(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*high - *low) / median(values);
}

/// Samples of workload `w` in the metric's unit.
std::vector<double> in_metric(const Case& c, const Samples& samples, std::size_t w, bool in_kernel) {
  std::vector<double> values = samples.of_workload[w];
  if (!in_kernel) {
    for (double& value : values) value = c.value(value);
  }
  return values;
}

}  // namespace

Runner::Runner(const DeviceFacts& device, std::uint64_t seed, const TimingPolicy& policy)
    : device_(device),
      policy_(policy),
      stream_(make_stream()),
      context_(device, stream_.get(), seed),
      sampler_(device, stream_.get()),
      telemetry_(device.ordinal) {}

Runner::~Runner() = default;

std::optional<std::string> Runner::check_output(const Workload& workload) {
  if (workload.poison) workload.poison();
  workload.launch();
  FATHOM_CUDA(cudaStreamSynchronize(stream_.get()));
  if (workload.verify) {
    if (auto wrong = workload.verify()) return wrong;
  }
  return context_.buffers().guards_intact();
}

Entry Runner::measure(const std::string& entry_name, const std::string& probe, const Case& c) {
  Entry entry;
  entry.name = entry_name;
  entry.probe = probe;
  entry.axes = c.axes;
  entry.metric = c.metric;
  entry.bound = c.bound;
  entry.expected = c.expected;
  entry.extras = c.extras;
  const auto fail = [&](VerdictStatus status, std::string reason) {
    entry.verdict.status = status;
    entry.verdict.reasons = {std::move(reason)};
  };
  try {
    std::vector<Workload> workloads{c.prepare(context_)};
    for (const OpponentCase& opponent : c.opponents) workloads.push_back(opponent.prepare(context_));
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      if (const auto wrong = check_output(workloads[w])) {
        fail(VerdictStatus::wrong_output,
             w == 0 ? *wrong : fmt::format("{}: {}", c.opponents[w - 1].name, *wrong));
        case_failure_ = ExitCode::check_failed;
        return entry;
      }
    }
    std::vector<const Workload*> pointers;
    for (const Workload& workload : workloads) pointers.push_back(&workload);

    telemetry_.start();
    const Samples samples = sampler_.sample(pointers, c.cache, policy_);
    entry.telemetry = telemetry_.stop();

    const bool in_kernel = static_cast<bool>(workloads[0].read_sample);
    entry.samples = in_metric(c, samples, 0, in_kernel);
    entry.metric.value = median(entry.samples);
    entry.interval = median_interval(entry.samples, 0.95);
    entry.repeatability = relative_spread(samples.round_medians[0]);
    entry.real_time_s = median(samples.seconds);
    entry.iterations = static_cast<std::int64_t>(samples.seconds.size()) *
                       samples.timing.launches_per_sample;
    entry.timing = samples.timing;
    for (std::size_t i = 0; i < c.opponents.size(); ++i) {
      Opponent opponent;
      opponent.name = c.opponents[i].name;
      opponent.samples = in_metric(c, samples, i + 1, in_kernel);
      opponent.value = median(opponent.samples);
      const PairedRatio ratio = paired_ratio(entry.samples, opponent.samples, c.metric.better);
      opponent.ratio = ratio.median;
      opponent.ratio_interval = ratio.interval;
      entry.opponents.push_back(std::move(opponent));
    }
    if (workloads[0].extras) entry.extras.merge(workloads[0].extras());
  } catch (const Error& error) {
    telemetry_.stop();
    if (leaves_gpu_unusable(error.code())) throw;
    fail(VerdictStatus::failed, error.what());
    if (case_failure_ == ExitCode::ok) case_failure_ = error.code();
  } catch (const std::invalid_argument& error) {  // the statistics refuse what is not finite
    telemetry_.stop();
    fail(VerdictStatus::failed, fmt::format("a sample is no number: {}", error.what()));
    if (case_failure_ == ExitCode::ok) case_failure_ = ExitCode::check_failed;
  }
  return entry;
}

}  // namespace fathom
