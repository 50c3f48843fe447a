#include <fmt/format.h>

#include <algorithm>

#include "probes/launch_overhead/cases.h"
#include "probes/launch_overhead/claims.h"

namespace fathom::launch_overhead {
namespace {

const Probe probe{
    .name = "launch_overhead",
    .question =
        "What does it cost to launch a kernel, to wait for it, and to follow one kernel by "
        "another?",
    .method =
        "On the GPU: kernels queued before the first may run, so that the host is not in it. An "
        "empty kernel by events around a graph of many; the time from one kernel to the next by "
        "the global timer that a kernel reads before and after a row of empty ones, in a stream, "
        "in a straight graph and in one whose kernels all depend on the first alone; the gap "
        "between two dependent kernels that each work for some microseconds by the timer that each "
        "reads before and after its work, with and without programmatic dependent launch. No "
        "kernel may begin its work before the one it depends on is done. On the host: the steady "
        "clock around calls on a stream that nothing else uses, 64 of those that do not wait and "
        "16 round trips to a sample; for what cudaStreamSynchronize itself takes the host first "
        "spins on a flag in its memory that the kernel raises.",
    .conclude = conclude,
    .cases = {grid_cases, chain_cases, host_cases}};

}  // namespace

Case make_case(const char* sweep, const std::string& what, const Axes& more, Suite suite) {
  Case c;
  c.name = fmt::format("{}/{}", sweep, what);
  c.axes = {{"sweep", sweep}, {"what", what}};
  add_axes(c, more, false);
  c.suite = suite;
  c.metric = {"time", "s", Better::lower, std::nullopt};
  c.precision = Precision{.relative_half_width = 0.01, .min_samples = 24, .time_limit_s = 0.04};
  return c;
}

}  // namespace fathom::launch_overhead

FATHOM_PROBE(fathom::launch_overhead::probe)
