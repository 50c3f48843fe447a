#include "fleet/run/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/error.h"
#include "tools/probe_binaries.h"

namespace fathom {
namespace {

/// What a host's GPUs share, or why that is not known.
struct SuiteProbes {
  std::vector<std::string> names;
  std::string problem;
};

SuiteProbes probes_of(const std::string& suite) {
  SuiteProbes probes;
  try {
    for (const ProbeBinary& probe :
         select_probes(find_probes(program_folder()), {}, *find_run_suite(suite)))
      probes.names.push_back(probe.name);
  } catch (const Error& error) {
    probes.problem = error.what();
  }
  return probes;
}

bool has_to_share(const GpuJob& job) { return job.gpu && job.measured > 1; }

std::string why_nothing_is_left(const SuiteProbes& probes) {
  return probes.problem.empty()
             ? "its host has more GPUs than the suite has probes (--counters shared)"
             : fmt::format("it is not known which probes there are: {}", probes.problem);
}

}  // namespace

std::vector<std::string> share_of(const std::vector<std::string>& probes, std::size_t place,
                                  std::size_t gpus) {
  std::vector<std::string> share;
  for (std::size_t i = place; i < probes.size(); i += gpus) share.push_back(probes[i]);
  return share;
}

void decide_counters(const FleetRunArguments& arguments, std::vector<GpuJob>& jobs) {
  const std::string& which = arguments.counters;
  SuiteProbes probes;
  if (which == "shared" && std::ranges::any_of(jobs, has_to_share))
    probes = probes_of(arguments.suite);
  for (GpuJob& job : jobs) {
    fleet::GpuSummary& s = job.summary;
    if (arguments.replay) continue;  // it repeats those of the recording
    if (which == "none") {
      s.no_counters = "not asked for (--counters none)";
    } else if (which == "first" && job.gpu && job.place > 0) {
      s.no_counters = "its host's first GPU collects them (--counters first)";
    } else if (which == "shared" && has_to_share(job)) {
      s.counters_of = share_of(probes.names, job.place, job.measured);
      if (s.counters_of.empty()) s.no_counters = why_nothing_is_left(probes);
    }
  }
}

}  // namespace fathom
