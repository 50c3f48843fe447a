#include "probes/claims.h"
#include "probes/launch_overhead/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;
using namespace fathom::launch_overhead;

namespace {

constexpr double us = 1e-6;

Entry planted_entry(const char* sweep, const char* what, double seconds, Axes more = {}) {
  Axes axes{{"sweep", sweep}, {"what", what}};
  axes.insert(axes.end(), more.begin(), more.end());
  Entry e =
      planted::entry(std::string(sweep) + "/" + what, std::move(axes), seconds, Better::lower);
  e.metric.unit = "s";
  e.interval = Interval{0.99 * seconds, 1.01 * seconds, 0.95, "planted"};
  return e;
}

Entry grid(std::int64_t threads, std::int64_t blocks, double seconds) {
  return planted_entry("grid", "empty kernel", seconds, {{"threads", threads}, {"blocks", blocks}});
}

Entry graph_cost(std::int64_t nodes, double seconds) {
  return planted_entry("host", graph_launch, seconds, {{"kernels", nodes}});
}

Findings concluded(const std::vector<Entry>& entries) {
  return planted::checked(conclude(entries));
}

}  // namespace

// Facts that have a value: recording_conclude_test.cpp.
TEST_CASE("a slope that cannot be told says so", "[probes]") {
  const Findings grids = concluded({grid(32, 30'000, 8 * us), grid(32, 8'000, 9 * us),
                                    grid(32, 132, 1.132 * us), grid(1024, 8'000, 9 * us)});
  CHECK_THAT(fact(grids, "launch.block_start_rate_32_threads").reason, contains("no longer"));
  CHECK_THAT(fact(grids, "launch.block_start_rate_1024_threads").reason, contains("left out"));
  const Findings flat = concluded({graph_cost(256, 5 * us), graph_cost(1024, 5.02 * us)});
  CHECK_THAT(fact(flat, "launch.graph_host_cost_per_node").reason, contains("noise"));
  const Findings steep =
      concluded({graph_cost(1, 5 * us), graph_cost(24, 10 * us), graph_cost(1024, 210 * us)});
  CHECK_THAT(fact(steep, "launch.graph_host_cost_per_node").value.value(),
             WithinRel(0.2 * us, 1e-9));
  CHECK_THAT(fact(steep, "launch.graph_pdl_gap").reason, contains("9.0"));
}
