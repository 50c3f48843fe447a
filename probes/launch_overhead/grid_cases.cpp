#include "probes/launch_overhead/cases.h"
#include "probes/launch_overhead/claims.h"
#include "probes/launch_overhead/kernels.h"

// Empty kernels as the harness times any launch: several one after the other in a graph.

namespace fathom::launch_overhead {
namespace {

/// There is nothing in an empty kernel that could be checked.
Workload launches(std::function<void()> launch) {
  Workload workload;
  workload.launch = std::move(launch);
  return workload;
}

Case grid_case(int blocks, int threads, bool quick) {
  Case c = make_case("grid", "empty kernel",
                     {{"threads", std::int64_t{threads}}, {"blocks", std::int64_t{blocks}}},
                     quick_if(quick));
  c.value = [](double seconds) { return seconds; };
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    return launches([=] { launch_empty(blocks, threads, stream); });
  };
  return c;
}

Case arguments_case(int bytes) {
  Case c = make_case("arguments", "empty kernel", {{"arguments (B)", std::int64_t{bytes}}},
                     Suite::standard);
  c.value = [](double seconds) { return seconds; };
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    return launches([=] { launch_with_arguments(bytes, stream); });
  };
  return c;
}

}  // namespace

std::vector<Case> grid_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const int threads : {32, 1024}) {
    cases.push_back(grid_case(1, threads, threads == 32));
    for (const int a_sm : {1, 4, 16, 64, 256})
      cases.push_back(grid_case(a_sm * device.sms, threads, a_sm >= 64));
  }
  for (const int bytes : argument_bytes) cases.push_back(arguments_case(bytes));
  return cases;
}

}  // namespace fathom::launch_overhead
