#include <fmt/format.h>

#include <algorithm>

#include "fleet/run/measure.h"
#include "results/error.h"
#include "tools/probe_binaries.h"

namespace fathom {

void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs) {
  if (arguments.replay) return;  // it repeats those of the recording
  const std::string& which = arguments.counters;
  const bool shared = which == "shared" && gpus > 1;
  std::vector<ProbeBinary> probes;
  std::string none_left = "its host has more GPUs than the suite has probes (--counters shared)";
  try {
    if (shared && std::ranges::any_of(jobs, [](const GpuJob& job) { return job.gpu.has_value(); }))
      probes = select_probes(find_probes(program_folder()), {}, *find_run_suite(arguments.suite));
  } catch (const Error& error) {
    none_left = fmt::format("it is not known which probes there are: {}", error.what());
  }
  for (GpuJob& job : jobs) {
    fleet::GpuSummary& s = job.summary;
    if (which == "none") {
      s.no_counters = "not asked for (--counters none)";
    } else if (which == "first" && job.gpu && job.place > 0) {
      s.no_counters = "its host's first GPU collects them (--counters first)";
    } else if (shared && job.gpu) {
      for (std::size_t i = job.place; i < probes.size(); i += gpus)
        s.counters_of.push_back(probes[i].name);
      if (s.counters_of.empty()) s.no_counters = none_left;
    }
  }
}

}  // namespace fathom
