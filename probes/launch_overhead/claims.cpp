#include "probes/launch_overhead/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "probes/launch_overhead/launch_facts.h"
#include "results/query.h"

namespace fathom::launch_overhead {
namespace {

View plot(const char* title, AxisFilter where, const char* x, const char* y_label,
          std::vector<std::string> series) {
  View view;
  view.kind = View::Kind::plot;
  view.title = title;
  for (auto& [axis, value] : where) view.where.emplace_back(axis, std::vector<AxisValue>{value});
  view.x = view.x_label = x;
  view.x_log2 = true;
  view.y_label = y_label;
  view.y_log = true;
  view.y_from_zero = false;
  view.series = std::move(series);
  view.show_bound = view.show_expected = false;
  return view;
}

std::vector<View> views() {
  View host;
  host.title = "Cost of calls on the host";
  host.note = "By the host's clock, on a stream that nothing else uses.";
  host.where = {{"sweep", {"host"}}};
  host.columns = {"what", "kernels", "arguments (B)", "metric", "interval", "verdict"};
  View gaps;
  gaps.title = "Gap between dependent kernels";
  gaps.note = "From the end of one kernel's work to the begin of the next one's.";
  gaps.where = {{"sweep", {"gap"}}};
  gaps.columns = {"what", "programmatic", "metric", "interval", "verdict"};
  return {std::move(host), std::move(gaps),
          plot("Time from one empty kernel to the next", {{"sweep", "chain"}}, "kernels",
               "Time per kernel (s)", {"what"}),
          plot("Time of an empty kernel by its grid", {{"sweep", "grid"}}, "blocks", "Time (s)",
               {"threads"}),
          plot("Host's cost of a launch by size of arguments",
               {{"sweep", "host"}, {"what", launch_with_argument_bytes}}, "arguments (B)",
               "Time (s)", {"what"})};
}

std::string microseconds(const std::vector<Fact>& facts, std::string_view id) {
  const auto found = std::ranges::find(facts, id, &Fact::id);
  if (found == facts.end() || !found->value) return "(not measured)";
  return fmt::format("{:.3g} us", *found->value * 1e6);
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.facts = launch_facts(entries);
  const std::vector<Fact>& facts = findings.facts;
  findings.views = views();
  if (std::ranges::any_of(facts, [](const Fact& f) { return f.value.has_value(); })) {
    findings.answer = fmt::format(
        "A launch costs the host {} and is back after {} with a synchronize; on the GPU an empty "
        "kernel follows another after {} in a stream and {} in a graph; the gap between dependent "
        "kernels is {}, and {} with programmatic dependent launch.",
        microseconds(facts, "launch.kernel_host_cost"),
        microseconds(facts, "launch.kernel_latency"), microseconds(facts, "launch.stream_kernel"),
        microseconds(facts, "launch.graph_node"), microseconds(facts, "launch.stream_gap"),
        microseconds(facts, "launch.pdl_gap"));
  }
  return findings;
}

}  // namespace fathom::launch_overhead
