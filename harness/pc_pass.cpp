#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/runner.h"

namespace fathom {
namespace {

/// Reasons with a smaller share of a line's samples are left out.
constexpr double smallest_share_shown = 0.01;

/// Millions of samples instead of some 200,000, so that small shares are steady too.
constexpr int sampled_launches = 64;

/// Samples of waiting warps by reason. CUPTI counts a sample once more under `<reason>_not_issued`
/// if the scheduler issued nothing at all, and calls a warp that issued `selected`.
std::map<std::string, double> waiting(const PcSample& sample) {
  std::map<std::string, double> found;
  for (const auto& [reason, samples] : sample.by_reason) {
    if (reason.ends_with("_not_issued") || reason == "selected") continue;
    found[reason] = static_cast<double>(samples);
  }
  return found;
}

Counter share_counter(const std::string& name, std::optional<double> percent,
                      const std::string& reason) {
  Counter counter;
  counter.role = name;
  counter.metric = "PC sampling, by source line";
  counter.unit = "%";
  counter.value = percent;
  counter.reason = reason;
  return counter;
}

std::vector<Counter> missing(const Case& c, const std::string& reason) {
  std::vector<Counter> counters;
  for (const LineShare& share : c.line_shares)
    counters.push_back(share_counter(share.name, std::nullopt, reason));
  return counters;
}

std::vector<Counter> shares(const Case& c, const PcProfile& profile) {
  double all = 0;
  for (const PcSample& sample : profile.samples)
    for (const auto& [reason, samples] : waiting(sample)) all += samples;
  if (!(all > 0)) {
    return missing(c, fmt::format("no waiting warp among {} samples of {} instructions ({} of "
                                  "unknown kernels, {} dropped)",
                                  profile.total_samples, profile.samples.size(),
                                  profile.unknown_kernel_samples, profile.dropped_samples));
  }
  if (!profile.line_reason.empty()) return missing(c, profile.line_reason);
  std::vector<Counter> counters;
  for (const LineShare& share : c.line_shares) {
    double on_lines = 0;
    std::map<std::string, double> by_reason;
    for (const PcSample& sample : profile.samples) {
      if (std::filesystem::path(sample.file).filename() != share.file) continue;
      if (std::find(share.lines.begin(), share.lines.end(), sample.line) == share.lines.end())
        continue;
      for (const auto& [reason, samples] : waiting(sample)) {
        on_lines += samples;
        by_reason[reason] += samples;
      }
    }
    counters.push_back(share_counter(share.name, 100 * on_lines / all, ""));
    for (const auto& [reason, samples] : by_reason) {
      if (samples < smallest_share_shown * on_lines) continue;
      counters.push_back(share_counter(share.name + "_" + reason, 100 * samples / all, ""));
    }
  }
  return counters;
}

}  // namespace

std::vector<Counter> Runner::sample_lines(const Case& c, std::optional<PcSampler>& sampler) {
  try {
    context_.buffers().set_placement(0);
    const Workload workload = c.prepare(context_);
    workload.launch();  // loads the kernel
    if (!sampler) sampler.emplace(device_.ordinal);
    return shares(c, sampler->collect([&] {
      for (int i = 0; i < sampled_launches; ++i) workload.launch();
    }));
  } catch (const Error& error) {  // no counters here, or no memory: the case itself may still run
    if (leaves_gpu_unusable(error.code())) throw;
    return missing(c, error.what());
  }
}

}  // namespace fathom
