#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probes/launch_overhead/cases.h"
#include "probes/launch_overhead/claims.h"

namespace fathom::launch_overhead {
namespace {

class LaunchOverhead : public Probe {
 public:
  std::string name() const override { return "launch_overhead"; }
  std::string question() const override {
    return "What does it cost to launch a kernel, to wait for it, and to follow one kernel by "
           "another?";
  }
  std::string method() const override {
    return "On the GPU: kernels queued before the first may run, so that the host is not in it. An "
           "empty kernel by events around a graph of many; the time from one kernel to the next by "
           "the global timer that a kernel reads before and after a row of empty ones, in a "
           "stream, in a straight graph and in one whose kernels all depend on the first alone; "
           "the gap between two dependent kernels that each work for some microseconds by the "
           "timer that each reads before and after its work, with and without programmatic "
           "dependent launch. No kernel may begin its work before the one it depends on is done. "
           "On the host: the steady clock around calls on a stream that nothing else uses, 64 of "
           "those that do not wait and 16 round trips to a sample; for what cudaStreamSynchronize "
           "itself takes the host first spins on a flag in its memory that the kernel raises.";
  }
  std::vector<Case> cases(const DeviceFacts& device) const override {
    std::vector<Case> result;
    for (const auto part : {grid_cases, chain_cases, host_cases}) {
      std::vector<Case> cases = part(device);
      std::ranges::move(cases, std::back_inserter(result));
    }
    return result;
  }
  Findings conclude(std::span<const Entry> entries) const override {
    return fathom::launch_overhead::conclude(entries);
  }
};

}  // namespace

Case make_case(const char* sweep, const std::string& what, Axes more, Suite suite) {
  Case c;
  c.name = fmt::format("{}/{}", sweep, what);
  c.axes = {{"sweep", sweep}, {"what", what}};
  for (auto& [name, value] : more) {
    const std::string key = name.substr(0, name.find(" ("));
    if (const auto* number = std::get_if<std::int64_t>(&value))
      c.name += fmt::format("/{}:{}", key, *number);
    else
      c.name += fmt::format("/{}:{}", key, std::get<std::string>(value));
    c.axes.emplace_back(std::move(name), std::move(value));
  }
  std::erase(c.name, ',');
  std::ranges::replace(c.name, ' ', '-');
  c.suite = suite;
  c.metric = {"time", "s", Better::lower, std::nullopt};
  c.precision = Precision{.relative_half_width = 0.01, .min_samples = 24, .time_limit_s = 0.04};
  return c;
}

}  // namespace fathom::launch_overhead

FATHOM_PROBE(fathom::launch_overhead::LaunchOverhead)
