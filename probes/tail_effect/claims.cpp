#include "probes/claims.h"
#include "results/rows.h"

namespace fathom::tail_effect {
namespace {

const char* const kinds[] = {"latency-bound", "throughput-bound", "memory-bound"};

/// Time at 1.5 waves over that at 2, by kind of block: 1 for a staircase, 0.75 in proportion.
Reading steps() {
  Reading reading;
  for (const std::string kind : kinds) {
    for (const auto& [name, waves] : {std::pair{" half", 1.5}, {" whole", 2.0}})
      reading.quantities.push_back({kind + name, {{"block kind", kind}, {"waves", waves}}});
    reading.formulas.push_back(ratio(kind, kind + " half", kind + " whole"));
  }
  return reading;
}

std::vector<FigureRange> stairs() {
  std::vector<FigureRange> checks;
  for (const char* kind : kinds) checks.push_back({kind, same_speed, 1 / same_speed});
  return checks;
}

std::vector<View> views() {
  std::vector<View> all;
  for (const std::string kind : kinds)
    all.push_back({.kind = View::Kind::plot,
                   .title = "Time against waves, " + kind + " blocks",
                   .where = {{"block kind", {kind}}},
                   .x = "waves",
                   .x_label = "Grid (waves)",
                   .y_label = "Time",
                   .series = {"block kind"}});
  all.push_back({.title = "Every grid",
                 .columns = {"block kind", "waves", "blocks", "metric", "expected", "bound",
                             "extra:wave_efficiency", "counter:achieved_occupancy", "verdict"}});
  return all;
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .claims = {{"T1", "Time grows in steps of one wave: 1.5 waves cost as much as 2",
                  "staircase, efficiency = waves / ceil(waves)", toyx, steps(), stairs(),
                  "1.5 waves over 2 waves: {latency-bound:.3f} for latency-bound blocks; "
                  "{throughput-bound:.3f} where blocks share the FMA pipes and {memory-bound:.3f} "
                  "where they share DRAM (0.750 would be proportional)",
                  Rule::cases}},
      .reading = steps(),
      .answer =
          "A grid of 1.5 waves takes {latency-bound:%} of the time of 2 waves for latency-bound "
          "blocks, {throughput-bound:%} where blocks share the FMA pipes, {memory-bound:%} where "
          "they share DRAM.",
      .views = views()};
  return evaluate(rows, entries);
}

}  // namespace fathom::tail_effect
