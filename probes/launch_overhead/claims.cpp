#include "probes/launch_overhead/claims.h"

#include "results/findings.h"

namespace fathom::launch_overhead {
namespace {

constexpr const char* no_programmatic =
    "this GPU lacks programmatic dependent launch (it came with compute capability 9.0), or its "
    "cases were left out of this run";

std::vector<FactRow> rows() {
  const auto row = [](const char* id, const char* subject, const char* quantity, const char* method,
                      AxisFilter where, const char* absent = left_out) -> FactRow {
    return {{id, subject, quantity, "s", Better::lower}, std::move(where), method, absent};
  };
  const char* timer = "global timer of the kernels, all queued before the first may run";
  const char* cost = "time on the host";
  const auto host = [&](const char* id, const char* subject, const char* quantity, const char* what,
                        AxisFilter more = {}) {
    more.insert(more.end(), {{"sweep", "host"}, {"what", what}});
    return row(id, subject, quantity, "host's clock around calls on an idle stream",
               std::move(more));
  };
  return {
      row("launch.empty_kernel", "empty kernel", "time on the GPU",
          "events around a graph of empty kernels, one thread block each",
          {{"sweep", "grid"}, {"threads", 32}, {"blocks", 1}}),
      row("launch.stream_kernel", "empty kernels in a stream", "time from one to the next", timer,
          {{"sweep", "chain"}, {"what", in_stream}}),
      row("launch.graph_node", "kernel node of a straight graph", "time from one to the next",
          timer, {{"sweep", "chain"}, {"what", in_graph}, {"kernels", 256}}),
      row("launch.graph_node_fan_out", "kernel node of a fan-out of 256", "time per node", timer,
          {{"sweep", "chain"}, {"what", fan_out_graph}, {"kernels", 256}}),
      row("launch.stream_gap", "dependent kernels in a stream", "gap", timer,
          {{"sweep", "gap"}, {"what", in_stream}, {"programmatic", "no"}}),
      row("launch.pdl_gap", "dependent kernels in a stream, programmatic dependent launch", "gap",
          timer, {{"sweep", "gap"}, {"what", in_stream}, {"programmatic", "yes"}}, no_programmatic),
      row("launch.graph_gap", "dependent kernels in a graph", "gap", timer,
          {{"sweep", "gap"}, {"what", in_graph}, {"programmatic", "no"}}),
      row("launch.graph_pdl_gap", "dependent kernels in a graph, programmatic dependent launch",
          "gap", timer, {{"sweep", "gap"}, {"what", in_graph}, {"programmatic", "yes"}},
          no_programmatic),
      host("launch.kernel_host_cost", "kernel launch", cost, kernel_launch),
      host("launch.kernel_latency", "kernel launch to the return of cudaStreamSynchronize",
           "latency", launch_and_synchronize),
      host("launch.flag_latency", "kernel launch to its flag in the host's memory", "latency",
           launch_until_flag),
      host("launch.synchronize", "cudaStreamSynchronize once the kernel's flag is seen", cost,
           synchronize_after_flag),
      host("launch.synchronize_idle", "cudaStreamSynchronize of an idle stream", cost,
           synchronize_idle),
      host("launch.stream_query", "cudaStreamQuery of an idle stream", cost, query_idle),
      host("launch.event_record", "cudaEventRecord", cost, record_event),
      host("launch.event_query", "cudaEventQuery of a completed event", cost, query_event),
      host("launch.graph_host_cost", "launch of a graph of one empty kernel between two others",
           cost, graph_launch, {{"kernels", 1}}),
      host("launch.graph_latency",
           "launch of a graph of one empty kernel between two others to the return of "
           "cudaStreamSynchronize",
           "latency", graph_launch_and_synchronize, {{"kernels", 1}}),
      host("launch.arguments_4096_host_cost", "kernel launch with 4096 B of arguments", cost,
           launch_with_argument_bytes, {{"arguments (B)", 4096}}),
      host("launch.arguments_32764_host_cost", "kernel launch with 32764 B of arguments", cost,
           launch_with_argument_bytes, {{"arguments (B)", 32764}}),
      row("launch.arguments_32764_kernel", "empty kernel with 32764 B of arguments",
          "time on the GPU", "events around a graph of such kernels",
          {{"sweep", "arguments"}, {"arguments (B)", 32764}}),
  };
}

std::vector<View> views() {
  const PlotStyle logarithmic{.x_log2 = true, .y_log = true};
  return {table("Cost of calls on the host", {{"sweep", {"host"}}},
                {"what", "kernels", "arguments (B)", "metric", "interval", "verdict"},
                "By the host's clock, on a stream that nothing else uses."),
          table("Gap between dependent kernels", {{"sweep", {"gap"}}},
                {"what", "programmatic", "metric", "interval", "verdict"},
                "From the end of one kernel's work to the begin of the next one's."),
          plot("Time from one empty kernel to the next", {{"sweep", {"chain"}}}, "kernels",
               "Time per kernel (s)", {"what"}, logarithmic),
          plot("Time of an empty kernel by its grid", {{"sweep", {"grid"}}}, "blocks", "Time (s)",
               {"threads"}, logarithmic),
          plot("Host's cost of a launch by size of arguments",
               {{"sweep", {"host"}}, {"what", {launch_with_argument_bytes}}}, "arguments (B)",
               "Time (s)", {"what"}, logarithmic)};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions all{
      .facts = rows(),
      .answer =
          "A launch costs the host {launch.kernel_host_cost} and is back after "
          "{launch.kernel_latency} with a synchronize; on the GPU an empty kernel follows another "
          "after {launch.stream_kernel} in a stream and {launch.graph_node} in a graph; the gap "
          "between dependent kernels is {launch.stream_gap}, and {launch.pdl_gap} with "
          "programmatic dependent launch.",
      .views = views()};
  return evaluate(all, entries);
}

}  // namespace fathom::launch_overhead
