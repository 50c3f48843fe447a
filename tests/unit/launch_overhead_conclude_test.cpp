#include "probes/claims.h"
#include "probes/launch_overhead/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_values;
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

TEST_CASE("each cost of a launch is the entry that measured it", "[probes]") {
  const Findings findings = concluded({
      planted_entry("host", kernel_launch, 2 * us),
      planted_entry("host", launch_and_synchronize, 7 * us),
      planted_entry("host", graph_launch_and_synchronize, 9 * us, {{"kernels", std::int64_t{1}}}),
      planted_entry("chain", in_stream, 1.5 * us, {{"kernels", std::int64_t{256}}}),
      planted_entry("chain", in_graph, 3 * us, {{"kernels", std::int64_t{1}}}),
      planted_entry("chain", in_graph, 1.2 * us, {{"kernels", std::int64_t{256}}}),
      planted_entry("chain", fan_out_graph, 0.4 * us, {{"kernels", std::int64_t{256}}}),
      planted_entry("gap", in_stream, 1 * us, {{"programmatic", "no"}}),
      planted_entry("gap", in_stream, 0.6 * us, {{"programmatic", "yes"}}),
      planted_entry("gap", in_graph, 0.9 * us, {{"programmatic", "no"}}),
      grid(32, 1, 1.1 * us),
  });
  CHECK(fact(findings, "launch.kernel_host_cost").value == 2 * us);
  CHECK(fact(findings, "launch.kernel_host_cost").unit == "s");
  CHECK(fact(findings, "launch.kernel_host_cost").better == Better::lower);
  check_values(findings, {{"launch.kernel_latency", 7 * us},
                          {"launch.graph_latency", 9 * us},
                          {"launch.empty_kernel", 1.1 * us},
                          {"launch.stream_kernel", 1.5 * us},
                          {"launch.graph_node", 1.2 * us},
                          {"launch.graph_node_fan_out", 0.4 * us},
                          {"launch.stream_gap", 1 * us},
                          {"launch.pdl_gap", 0.6 * us},
                          {"launch.graph_gap", 0.9 * us}});
  CHECK_THAT(fact(findings, "launch.graph_pdl_gap").reason, contains("9.0"));
  CHECK_THAT(findings.answer, contains("2 us") && contains("600 ns with programmatic"));
  CHECK(findings.views.size() == 5);
}

TEST_CASE("the rate of starting blocks is the slope of the two largest grids", "[probes]") {
  // 1 us for the launch and a nanosecond for each block.
  std::vector<Entry> entries{grid(32, 30'000, 31 * us), grid(32, 132, 1.132 * us),
                             grid(32, 8'000, 9 * us), grid(1024, 8'000, 9 * us)};
  const Findings findings = concluded(entries);
  const Fact& rate = fact(findings, "launch.block_start_rate_32_threads");
  CHECK_THAT(rate.value.value(), WithinRel(1e9, 1e-9));
  CHECK(rate.unit == "blocks/s");
  CHECK(rate.better == Better::higher);
  CHECK(rate.evidence.size() == 2);
  CHECK(rate.interval->low > 0.9e9);
  CHECK_FALSE(fact(findings, "launch.block_start_rate_1024_threads").value.has_value());

  entries[0].metric.value = 8 * us;  // faster than a third of it
  CHECK_THAT(fact(concluded(entries), "launch.block_start_rate_32_threads").reason,
             contains("no longer"));
}

TEST_CASE("a graph's cost by node is a slope, or too small to tell", "[probes]") {
  const Findings steep =
      concluded({graph_cost(1, 5 * us), graph_cost(24, 10 * us), graph_cost(1024, 210 * us)});
  CHECK(fact(steep, "launch.graph_host_cost").value == 5 * us);
  CHECK_THAT(fact(steep, "launch.graph_host_cost_per_node").value.value(),
             WithinRel(0.2 * us, 1e-9));
  const Findings flat = concluded({graph_cost(256, 5 * us), graph_cost(1024, 5.02 * us)});
  const Fact& flat_cost = fact(flat, "launch.graph_host_cost_per_node");
  CHECK_THAT(flat_cost.reason, contains("noise"));
}
