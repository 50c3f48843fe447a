#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probes/memory_latency/facts.h"
#include "results/format.h"
#include "probes/regime_view.h"
#include "results/rows.h"

namespace fathom::memory_latency {
namespace {

View curve_view(const char* title, const char* sweep, const char* level, const char* x,
                const char* x_label, std::vector<std::string> series) {
  View view{.kind = View::Kind::plot, .title = title, .where = {{"sweep", {sweep}}}};
  if (level != nullptr) view.where.emplace_back("level", std::vector<AxisValue>{level});
  view.x = x;
  view.x_label = x_label;
  view.y_label = "Latency (cycles)";
  view.x_log2 = true;
  view.series = std::move(series);
  view.show_bound = view.show_expected = false;
  return view;
}

/// Draws the regimes that the facts come from on the curve, and marks the sizes among the facts.
View with_regimes(View view, std::span<const Entry> entries, const AxisFilter& curve,
                  const std::vector<Fact>& facts,
                  const std::vector<std::pair<const char*, const char*>>& sizes) {
  if (const auto cut = regimes_of(entries, curve)) draw_regimes(view, *cut, "B", "cycles");
  view.markers.clear();
  for (const auto& [id, words] : sizes) {
    const auto fact = std::ranges::find(facts, std::string(id), &Fact::id);
    if (fact == facts.end() || !fact->value) continue;
    view.markers.push_back({*fact->value, fmt::format("{} {}", words, format_bytes(*fact->value))});
  }
  return view;
}

std::vector<View> views(std::span<const Entry> entries, const std::vector<Fact>& facts) {
  View latencies{
      .title = "Latency inside each level",
      .note = "Cycles of the SM clock; p5 to p95 over single loads.",
      .where = {{"sweep", {"latency"}}},
      .columns = {"level", "instruction", "method", "working set (B)", "metric", "interval",
                  "extra:latency_ns", "extra:p5", "extra:p50", "extra:p95", "verdict"}};
  View distances{
      .title = "Distributed shared memory by cluster size and distance in ranks",
      .where = {{"sweep", {"distance"}}},
      .columns = {"instruction", "cluster size", "distance", "metric", "extra:latency_ns"}};
  View lines{.title = "Lines and sets of the L1 and the L2",
             .where = {{"sweep", {"line", "associativity"}}},
             .columns = {"sweep", "level", "candidate (B)", "stride (B)", "elements", "metric"}};
  View code = curve_view("Pace of straight-line code against its length", "code",
                         "instruction caches", "working set (B)", "Length", {"level"});
  code.y_label = "Cycles per instruction";
  View beside =
      curve_view("Latency of constants beside code that shares a cache with them", "beside code",
                 nullptr, "working set (B)", "Constants and code", {"constants (B)"});
  View carveouts = curve_view("Latency against working set, L1 by carve-out", "size", "L1",
                              "working set (B)", "Working set", {"carve-out (KiB)"});
  carveouts.note =
      "Loads that may hit in the L1, one line for each carve-out of shared memory; beyond the L1 "
      "they come from the L2.";
  carveouts.overview = true;
  View curve = with_regimes(curve_view("Latency against working set, L2 and DRAM", "size", "L2",
                                       "working set (B)", "Working set", {"level"}),
                            entries, {{"sweep", "size"}, {"level", "L2"}}, facts,
                            {{"l2.partition", "partition"}, {"l2.size", "L2"}});
  curve.note =
      "Loads past the L1. Grey: the regimes that the curve falls into. A working set beyond the "
      "near partition of the L2 has lines in the far one, one beyond the L2 misses to DRAM.";
  curve.overview = true;
  return {latencies,
          carveouts,
          curve,
          curve_view("Latency against working set, constant memory", "size", "constant",
                     "working set (B)", "Working set", {"level"}),
          beside,
          code,
          with_regimes(curve_view("Latency against footprint, one line in each large page", "pages",
                                  nullptr, "working set (B)", "Footprint", {"level"}),
                       entries, {{"sweep", "pages"}}, facts,
                       {{"tlb.reach", "TLB level 1"}, {"tlb.reach_2", "TLB level 2"}}),
          curve_view("Second load of a pair against its distance from the first", "fetch", nullptr,
                     "distance (B)", "Distance", {"level"}),
          distances,
          lines};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  for (const auto part : {latency_facts, size_facts, code_and_constant_facts, driver_size_facts,
                          line_facts, set_facts}) {
    std::vector<Fact> facts = part(entries);
    std::move(facts.begin(), facts.end(), std::back_inserter(findings.facts));
  }
  findings.views = views(entries, findings.facts);
  findings.answer =
      answer_from(findings.facts,
                  "A load takes {shared.latency:.1f} cycles from shared memory, {l1.latency:.1f} "
                  "from the L1, {l2.latency:.1f} from the L2 and {dram.latency:.1f} from DRAM; the "
                  "L1 holds up to {l1.size}, the L2 {l2.size}.");
  return findings;
}

}  // namespace fathom::memory_latency
