#include "probes/claims.h"
#include "results/findings.h"

namespace fathom::tail_effect {

Findings conclude(std::span<const Entry> entries) {
  // Time at 1.5 waves over that at 2, by kind of block: 1 for a staircase, 0.75 in proportion.
  Quantities reading;
  std::vector<FigureRange> checks;
  std::vector<View> views;
  for (const std::string kind : {"latency-bound", "throughput-bound", "memory-bound"}) {
    for (const auto& [name, waves] : {std::pair{" half", 1.5}, {" whole", 2.0}})
      reading.push_back({kind + name, {{"block kind", kind}, {"waves", waves}}});
    reading.push_back(
        formula(kind, [=](const Figures& f) { return f[kind + " half/" + kind + " whole"]; }));
    checks.push_back({kind, same_speed, 1 / same_speed});
    views.push_back(plot("Time against waves, " + kind + " blocks", {{"block kind", {kind}}},
                         "waves", "Time", {"block kind"},
                         {.x_label = "Grid (waves)", .bound = true, .expected = true}));
  }
  views.push_back(table("Every grid", {},
                        {"block kind", "waves", "blocks", "metric", "expected", "bound",
                         "extra:wave_efficiency", "counter:achieved_occupancy", "verdict"}));
  return evaluate(
      {.claims = {ClaimRow{"T1", toyx,
                           "Time grows in steps of one wave: 1.5 waves cost as much as 2",
                           "staircase, efficiency = waves / ceil(waves)", reading, checks,
                           "1.5 waves over 2 waves: {latency-bound:.3f} for latency-bound blocks; "
                           "{throughput-bound:.3f} where blocks share the FMA pipes and "
                           "{memory-bound:.3f} where they share DRAM (0.750 would be "
                           "proportional)",
                           Rule::cases}},
       .reading = reading,
       .answer = "A grid of 1.5 waves takes {latency-bound:%} of the time of 2 waves for "
                 "latency-bound blocks, {throughput-bound:%} where blocks share the FMA pipes, "
                 "{memory-bound:%} where they share DRAM.",
       .views = std::move(views)},
      entries);
}

}  // namespace fathom::tail_effect
