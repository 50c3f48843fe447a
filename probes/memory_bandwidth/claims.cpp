#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probes/memory_bandwidth/kind_facts.h"
#include "probes/memory_bandwidth/level_facts.h"
#include "probes/memory_bandwidth/saturation_facts.h"
#include "results/facts.h"
#include "results/format.h"
#include "results/query.h"
#include "results/regime_view.h"
#include "results/segmentation.h"

namespace fathom::memory_bandwidth {
namespace {

View plot(const char* title, const char* sweep, const char* x, std::vector<std::string> series) {
  View view;
  view.kind = View::Kind::plot;
  view.title = title;
  view.where = {{"sweep", {sweep}}};
  view.x = x;
  view.x_label = x;
  view.y_label = "Bandwidth (B/s)";
  view.series = std::move(series);
  view.show_bound = view.show_expected = false;
  return view;
}

/// Regimes of the curve that cannot hit in the L1: the L2's, its end, DRAM's.
void draw_l2_regimes(View& view, std::span<const Entry> entries) {
  const std::vector<CurvePoint> curve = curve_of(select(entries, {{"sweep", "footprint"},
                                                                  {"operation", "load"},
                                                                  {"instruction", "ld.global.cg"},
                                                                  {"width (B)", std::int64_t{16}}}),
                                                 "working set (B)");
  constexpr std::size_t fewest = 6;
  if (curve.size() >= fewest) draw_regimes(view, segment(curve, {.resolution = 0.02}), "B", "B/s");
}

std::vector<View> views(std::span<const Entry> entries) {
  View footprint = plot("Bandwidth against working set, 16 bytes a lane", "footprint",
                        "working set (B)", {"operation", "instruction"});
  footprint.note =
      "All SMs, each its part of the working set. Plain loads may hit in the L1s, which together "
      "hold about as much as the L2. The regimes drawn are those of ld.global.cg.";
  footprint.where.push_back({"width (B)", {std::int64_t{16}}});
  footprint.x_log2 = true;
  draw_l2_regimes(footprint, entries);

  footprint.overview = true;
  View widths = plot("Loads against working set, by access width", "footprint", "working set (B)",
                     {"instruction", "width (B)"});
  widths.where.push_back({"operation", {"load"}});
  widths.x_log2 = true;

  View sms = plot("Loads by number of SMs", "SMs", "SMs", {"level"});
  sms.note =
      "ld.global.cg, 16 bytes a lane, 32 warps on each SM with four loads in flight each. SMs in "
      "the "
      "order of their numbers, even ones first: one of each TPC, round robin over the GPCs. All "
      "have the same share of the work, so that the slowest, in the GPC with most of them, tells "
      "the time.";
  sms.show_bound = true;

  View flight = plot("Loads by bytes in flight", "in flight", "bytes in flight (B)",
                     {"level", "loads in flight"});
  flight.note =
      "All SMs; from 1 to 64 warps on each, every thread with 1 to 8 loads of 16 bytes in flight.";
  flight.x_log2 = true;

  View table;
  table.title = "Bandwidth of each level";
  table.note =
      "Copies count the bytes read and the bytes written. Bytes per clock are of one SM, by the "
      "clocks that it read. Where each warp has its part the blocks are one wave with equal "
      "shares; "
      "where it has one tile they are many more, and each SM takes the next when it is done.";
  table.where = {{"sweep", {"level"}}};
  table.columns = {"level",
                   "operation",
                   "instruction",
                   "width (B)",
                   "cluster size",
                   "warps per SM",
                   "loads in flight",
                   "sharing",
                   "working set (B)",
                   "metric",
                   "interval",
                   "of_bound",
                   "extra:bytes_per_clock",
                   "counter:l1_hit_rate",
                   "counter:l2_hit_rate",
                   "verdict"};
  return {footprint, widths, sms, flight, table};
}

std::string answer(const std::vector<Fact>& facts) {
  const bool any = std::ranges::any_of(facts, [](const Fact& f) { return f.value.has_value(); });
  if (!any) return "";
  return fmt::format(
      "Loads move {} from shared memory, {} from the L1s, {} from the L2 and {} from DRAM; DRAM "
      "needs {} and {} in flight to be saturated.",
      value_text(facts, "shared.bandwidth"), value_text(facts, "l1.bandwidth"),
      value_text(facts, "l2.bandwidth"), value_text(facts, "dram.bandwidth"),
      value_text(facts, "dram.saturating_sms"), value_text(facts, "dram.bytes_in_flight"));
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  for (const auto part : {level_facts, kind_facts, saturation_facts}) {
    std::vector<Fact> facts = part(entries);
    std::move(facts.begin(), facts.end(), std::back_inserter(findings.facts));
  }
  findings.views = views(entries);
  findings.answer = answer(findings.facts);
  return findings;
}

}  // namespace fathom::memory_bandwidth
