#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "harness/counters/catalogue.h"
#include "harness/counters/range_profiler.h"
#include "harness/runner.h"

namespace fathom {
namespace {

using Pair = std::pair<const Case*, Entry*>;

// Cases that are counted in the same passes. Starting one takes 9 ms, more than most cases.
constexpr std::size_t cases_of_a_pass = 32;

Counter to_counter(const CounterRequest& request, const CounterReading& reading) {
  return {request.role,   reading.metric,   role(request.role).unit, reading.value,
          reading.reason, request.expected, request.tolerance,       request.model};
}

std::vector<std::string> roles_of(const Case& c) {
  std::vector<std::string> names;
  for (const CounterRequest& request : c.counters) names.push_back(request.role);
  return names;
}

void mark_unavailable(const std::vector<Pair>& pairs, const std::string& reason) {
  for (const auto& [c, entry] : pairs) {
    entry->counters.clear();
    for (const CounterRequest& request : c->counters)
      entry->counters.push_back(to_counter(request, {"", std::nullopt, reason}));
  }
}

}  // namespace

std::optional<Error> Runner::collect_counters(const std::vector<Pair>& pairs,
                                              const std::function<bool(std::size_t)>& keep_going) {
  // A session is made for a set of roles, so cases that ask for the same set share one.
  std::map<std::vector<std::string>, std::vector<Pair>> by_roles;
  for (const Pair& pair : pairs) by_roles[roles_of(*pair.first)].push_back(pair);

  std::size_t done = 0;
  std::optional<Error> first_problem;
  for (const auto& [names, group] : by_roles) {
    try {
      CounterSession session(device_.ordinal, names);
      for (std::size_t first = 0; first < group.size(); first += cases_of_a_pass) {
        const auto some =
            std::span(group).subspan(first, std::min(cases_of_a_pass, group.size() - first));
        for ([[maybe_unused]] const Pair& pair : some)
          if (!keep_going(done++)) return first_problem;
        Workload workload;  // one at a time: they share buffers
        const auto prepare = [&](std::size_t i) {
          const Case& c = *some[i].first;
          workload = c.prepare(context_);
          // Hot cases find what their own launch before left: the state in which they were timed.
          if (c.cache == CacheState::cold)
            sampler_.flush_l2();
          else
            workload.launch();
        };
        const auto readings =
            session.collect_batch(prepare, some.size(), [&](std::size_t) { workload.launch(); });
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto& [c, entry] = some[i];
          entry->counters.clear();
          for (const CounterRequest& request : c->counters)
            entry->counters.push_back(to_counter(request, readings[i].at(request.role)));
        }
      }
    } catch (const CounterError& error) {
      if (error.code() == ExitCode::gpu_lost) throw;
      mark_unavailable(group, error.what());
      if (!first_problem) first_problem = error;
    }
  }
  return first_problem;
}

// Sampling of the program counter.

namespace {

/// Reasons with a smaller share of a line's samples are left out.
constexpr double smallest_share_shown = 0.01;

/// Millions of samples instead of some 200,000, so that small shares are steady too.
constexpr int sampled_launches = 64;

/// CUPTI calls a warp that issued `selected`; all others wait.
constexpr const char* issued = "selected";

Counter share_counter(const std::string& name, std::optional<double> percent,
                      const std::string& reason) {
  return {name, "PC sampling, by source line", "%", percent, reason, std::nullopt, 0, ""};
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
    for (const auto& [reason, samples] : sample.by_reason)
      if (reason != issued) all += static_cast<double>(samples);
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
      for (const auto& [reason, samples] : sample.by_reason) {
        if (reason == issued) continue;
        on_lines += static_cast<double>(samples);
        by_reason[reason] += static_cast<double>(samples);
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
