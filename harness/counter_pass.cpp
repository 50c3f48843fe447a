#include <algorithm>
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
  Counter counter;
  counter.role = request.role;
  counter.metric = reading.metric;
  counter.unit = role(request.role).unit;
  counter.value = reading.value;
  counter.reason = reading.reason;
  counter.expected = request.expected;
  counter.tolerance = request.tolerance;
  counter.expected_model = request.model;
  return counter;
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

}  // namespace fathom
