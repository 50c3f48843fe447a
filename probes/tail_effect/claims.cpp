#include "probes/claims.h"
#include "results/rows.h"

namespace fathom::tail_effect {
namespace {

const char* const kinds[] = {"latency-bound", "throughput-bound", "memory-bound"};

/// Time at 1.5 waves over that at 2, by kind of block: 1 for a staircase, 0.75 in proportion.
ClaimRow staircase() {
  ClaimRow row{"T1", "Time grows in steps of one wave: 1.5 waves cost as much as 2",
               "staircase, efficiency = waves / ceil(waves)", toyx};
  for (const std::string kind : kinds) {
    for (const auto& [name, waves] : {std::pair{" half", 1.5}, {" whole", 2.0}})
      row.reading.quantities.push_back({kind + name, {{"block kind", kind}, {"waves", waves}}});
    row.reading.formulas.push_back(ratio(kind, kind + " half", kind + " whole"));
    row.checks.push_back({kind, same_speed, 1 / same_speed});
  }
  row.sentence =
      "1.5 waves over 2 waves: {latency-bound:.3f} for latency-bound blocks; "
      "{throughput-bound:.3f} where blocks share the FMA pipes and {memory-bound:.3f} where they "
      "share DRAM (0.750 would be proportional)";
  row.rule = Rule::cases;
  return row;
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Conclusions rows{
      .claims = {staircase()},
      .answer =
          "A grid of 1.5 waves takes {latency-bound:%} of the time of 2 waves for latency-bound "
          "blocks, {throughput-bound:%} where blocks share the FMA pipes, {memory-bound:%} where "
          "they share DRAM."};
  rows.reading = rows.claims.front().reading;
  for (const std::string kind : kinds)
    rows.views.push_back({.kind = View::Kind::plot,
                          .title = "Time against waves, " + kind + " blocks",
                          .where = {{"block kind", {kind}}},
                          .x = "waves",
                          .x_label = "Grid (waves)",
                          .y_label = "Time",
                          .series = {"block kind"}});
  rows.views.push_back(table("Every grid", {},
                             {"block kind", "waves", "blocks", "metric", "expected", "bound",
                              "extra:wave_efficiency", "counter:achieved_occupancy", "verdict"}));
  return evaluate(rows, entries);
}

}  // namespace fathom::tail_effect
