#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <span>

#include "harness/counters/catalogue.h"
#include "harness/counters/range_profiler.h"
#include "harness/host_timer.h"
#include "harness/runner.h"

namespace fathom {
namespace {

// Cases that are counted in the same passes. Starting one takes 9 ms, more than most cases.
constexpr std::size_t cases_of_a_pass = 32;

std::vector<std::string> roles_of(const Case& c) {
  std::vector<std::string> names;
  for (const CounterRequest& request : c.counters) names.push_back(request.role);
  return names;
}

/// Puts the case's counters into its entry; `problem`: why there are no readings.
void put_counters(Measured& measured, const CounterSession::Readings& readings,
                  const std::string& problem = "") {
  measured.entry.counters.clear();
  for (const CounterRequest& request : measured.c->counters) {
    const CounterReading reading =
        problem.empty() ? readings.at(request.role) : CounterReading{"", problem};
    measured.entry.counters.push_back({request.role, reading.metric, role(request.role).unit,
                                       reading.value, reading.reason, request.expected,
                                       request.tolerance, request.model});
  }
}

// Sampling of the program counter.

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

bool lies_on(const PcSample& sample, const LineShare& share) {
  return sample.source && std::filesystem::path(sample.source->file).filename() == share.file &&
         std::ranges::count(share.lines, sample.source->line) != 0;
}

std::vector<Counter> shares(const Case& c, const PcProfile& profile) {
  double all = 0;
  std::vector<std::map<std::string, double>> on_lines(c.line_shares.size());  // by reason
  for (const PcSample& sample : profile.samples)
    for (const auto& [reason, samples] : sample.by_reason) {
      if (reason == issued) continue;
      all += static_cast<double>(samples);
      for (std::size_t i = 0; i < on_lines.size(); ++i)
        if (lies_on(sample, c.line_shares[i])) on_lines[i][reason] += static_cast<double>(samples);
    }
  if (!(all > 0)) return missing(c, "no waiting warp was sampled");
  if (!profile.line_reason.empty()) return missing(c, profile.line_reason);
  std::vector<Counter> counters;
  for (std::size_t i = 0; i < on_lines.size(); ++i) {
    const std::string& name = c.line_shares[i].name;
    double waiting = 0;
    for (const auto& [reason, samples] : on_lines[i]) waiting += samples;
    counters.push_back(share_counter(name, 100 * waiting / all, ""));
    for (const auto& [reason, samples] : on_lines[i])
      if (samples >= smallest_share_shown * waiting)
        counters.push_back(share_counter(name + "_" + reason, 100 * samples / all, ""));
  }
  return counters;
}

}  // namespace

void Runner::note(const CounterError& error) {
  if (error.code() == ExitCode::gpu_lost) throw error;
  if (!counter_problem_) counter_problem_ = error;
}

void Runner::collect_counters(std::span<Measured* const> cases,
                              const std::function<bool(std::size_t)>& keep_going) {
  // A session is made for a set of roles, so cases that ask for the same set share one.
  std::map<std::vector<std::string>, std::vector<Measured*>> by_roles;
  for (Measured* measured : cases) by_roles[roles_of(*measured->c)].push_back(measured);

  std::size_t done = 0;
  for (const auto& [names, group] : by_roles) {
    try {
      CounterSession session(device_.ordinal, names);
      for (std::size_t first = 0; first < group.size(); first += cases_of_a_pass) {
        const auto some =
            std::span(group).subspan(first, std::min(cases_of_a_pass, group.size() - first));
        for (std::size_t i = 0; i < some.size(); ++i)
          if (!keep_going(done++)) return;
        Workload workload;  // one at a time: they share buffers
        const auto prepare = [&](std::size_t i) {
          const Case& c = *some[i]->c;
          workload = c.prepare(context_);
          // Hot cases find what their own launch before left: the state in which they were timed.
          if (c.cache == CacheState::cold)
            sampler_.flush_l2();
          else
            workload.launch();
        };
        const auto readings =
            session.collect_batch(prepare, some.size(), [&](std::size_t) { workload.launch(); });
        for (std::size_t i = 0; i < some.size(); ++i) put_counters(*some[i], readings[i]);
      }
    } catch (const CounterError& error) {
      note(error);
      for (Measured* measured : group) put_counters(*measured, {}, error.what());
    }
  }
}

Runner::Wrong Runner::run_campaign(const Case& c, bool counters, const KeepGoing& keep_going,
                                   Entry& entry) {
  const auto& campaign = std::get<Campaign>(c.mode);
  const auto start = std::chrono::steady_clock::now();
  std::string no_counters;
  const auto run = [&](CounterSession* session) {
    const Wrong wrong = campaign.run(context_, session, no_counters, keep_going, entry);
    if (entry.iterations > 0)
      entry.real_time_s = seconds_since(start) / static_cast<double>(entry.iterations);
    return wrong;
  };
  if (campaign.roles.empty()) return run(nullptr);
  try {
    if (counters) {
      CounterSession session(device_.ordinal, campaign.roles);
      return run(&session);
    }
    no_counters = "hardware counters were switched off (--no-counters)";
  } catch (const CounterError& error) {
    note(error);
    no_counters = error.what();
  }
  return run(nullptr);
}

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
