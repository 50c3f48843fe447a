#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/memory_latency/facts.h"
#include "probes/regime_view.h"
#include "results/format.h"

namespace fathom::memory_latency {
namespace {

View curve_view(const char* title, Where where, const char* x_label,
                std::vector<std::string> series, const char* note = "", bool overview = false,
                const char* x = working_set) {
  return plot(title, std::move(where), x, "Latency (cycles)", std::move(series),
              {.x_label = x_label, .x_log2 = true, .overview = overview}, note);
}

/// Draws the regimes that the facts come from on the curve, and marks the sizes among the facts.
View with_regimes(View view, const Curve& curve, const std::vector<Fact>& facts,
                  const std::vector<std::pair<std::string, const char*>>& sizes) {
  if (curve.cut) draw_regimes(view, *curve.cut, "B", "cycles");
  view.markers.clear();
  for (const auto& [id, words] : sizes) {
    const auto fact = std::ranges::find(facts, id, &Fact::id);
    if (fact == facts.end() || !fact->value) continue;
    view.markers.push_back({*fact->value, fmt::format("{} {}", words, format_bytes(*fact->value))});
  }
  return view;
}

std::vector<View> views(std::span<const Entry> entries, const std::vector<Fact>& facts) {
  View code =
      curve_view("Pace of straight-line code against its length",
                 {{"sweep", {"code"}}, {"level", {"instruction caches"}}}, "Length", {"level"});
  code.y_label = "Cycles per instruction";
  View carveouts = curve_view(
      "Latency against working set, L1 by carve-out", {{"sweep", {"size"}}, {"level", {"L1"}}},
      "Working set", {"carve-out (KiB)"},
      "Loads that may hit in the L1, one line for each carve-out of shared memory; beyond the L1 "
      "they come from the L2.",
      true);
  View l2 = with_regimes(
      curve_view("Latency against working set, L2 and DRAM",
                 {{"sweep", {"size"}}, {"level", {"L2"}}}, "Working set", {"level"},
                 "Loads past the L1. Grey: the regimes that the curve falls into. A working set "
                 "beyond the near partition of the L2 has lines in the far one, one beyond the L2 "
                 "misses to DRAM.",
                 true),
      curve(entries, {{"sweep", "size"}, {"level", "L2"}}, RampScale::share), facts,
      {{"l2.partition", "partition"}, {"l2.size", "L2"}});
  return {table("Latency inside each level", {{"sweep", {"latency"}}},
                {"level", "instruction", "method", "working set (B)", "metric", "interval",
                 "extra:latency_ns", "extra:p5", "extra:p50", "extra:p95", "verdict"},
                "Cycles of the SM clock; p5 to p95 over single loads."),
          carveouts,
          l2,
          curve_view("Latency against working set, constant memory",
                     {{"sweep", {"size"}}, {"level", {"constant"}}}, "Working set", {"level"}),
          curve_view("Latency of constants beside code that shares a cache with them",
                     {{"sweep", {"beside code"}}}, "Constants and code", {"constants (B)"}),
          code,
          with_regimes(curve_view("Latency against footprint, one line in each large page",
                                  {{"sweep", {"pages"}}}, "Footprint", {"level"}),
                       curve(entries, {{"sweep", "pages"}}), facts,
                       {{"tlb.reach", "TLB level 1"}, {"tlb.reach_2", "TLB level 2"}}),
          curve_view("Second load of a pair against its distance from the first",
                     {{"sweep", {"fetch"}}}, "Distance", {"level"}, "", false, "distance (B)"),
          table("Distributed shared memory by cluster size and distance in ranks",
                {{"sweep", {"distance"}}},
                {"instruction", "cluster size", "distance", "metric", "extra:latency_ns"}),
          table("Lines and sets of the L1 and the L2", {{"sweep", {"line", "associativity"}}},
                {"sweep", "level", "candidate (B)", "stride (B)", "elements", "metric"})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings = evaluate(
      {.facts = latency_rows(entries),
       .more_facts = {size_facts, code_and_constant_facts, driver_size_facts, cache_facts},
       .answer = "A load takes {shared.latency:.1f} cycles from shared memory, {l1.latency:.1f} "
                 "from the L1, {l2.latency:.1f} from the L2 and {dram.latency:.1f} from DRAM; the "
                 "L1 holds up to {l1.size}, the L2 {l2.size}."},
      entries);
  findings.views = views(entries, findings.facts);
  return findings;
}

}  // namespace fathom::memory_latency
