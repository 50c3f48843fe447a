#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probes/memory_bandwidth/facts.h"
#include "results/format.h"
#include "results/query.h"
#include "probes/regime_view.h"
#include "results/rows.h"
#include "results/segmentation.h"

namespace fathom::memory_bandwidth {
namespace {

View plot(const char* title, const char* sweep, const char* x, std::vector<std::string> series) {
  return {.kind = View::Kind::plot,
          .title = title,
          .where = {{"sweep", {sweep}}},
          .x = x,
          .x_label = x,
          .y_label = "Bandwidth (B/s)",
          .series = std::move(series),
          .show_bound = false,
          .show_expected = false};
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
      "the order of their numbers, even ones first: one of each TPC, round robin over the GPCs. "
      "All have the same share of the work, so that the slowest, in the GPC with most of them, "
      "tells the time.";
  sms.show_bound = true;

  View flight = plot("Loads by bytes in flight", "in flight", "bytes in flight (B)",
                     {"level", "loads in flight"});
  flight.note =
      "All SMs; from 1 to 64 warps on each, every thread with 1 to 8 loads of 16 bytes in flight.";
  flight.x_log2 = true;

  View table{.title = "Bandwidth of each level"};
  table.note =
      "Copies count the bytes read and the bytes written. Bytes per clock are of one SM, by the "
      "clocks that it read. Where each warp has its part the blocks are one wave with equal "
      "shares; where it has one tile they are many more, and each SM takes the next when it is "
      "done.";
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

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  for (const auto part : {level_facts, kind_facts, saturation_facts}) {
    std::vector<Fact> facts = part(entries);
    std::move(facts.begin(), facts.end(), std::back_inserter(findings.facts));
  }
  findings.views = views(entries);
  findings.answer =
      answer_from(findings.facts,
                  "Loads move {shared.bandwidth} from shared memory, {l1.bandwidth} from the L1s, "
                  "{l2.bandwidth} from the L2 and {dram.bandwidth} from DRAM; DRAM needs "
                  "{dram.saturating_sms} and {dram.bytes_in_flight} in flight to be saturated.");
  return findings;
}

}  // namespace fathom::memory_bandwidth
