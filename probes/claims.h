#pragma once

#include <span>
#include <string_view>

#include "results/findings.h"
#include "results/statistics.h"

// What each probe concludes from its entries. No CUDA: a recorded document is concluded again
// without the programs that measured it.

namespace fathom {

/// All probes, and the ladder (gemm/bench/), each in the namespace of its name.
#define FATHOM_EACH_PROBE(of)                                                                    \
  of(atomics) of(bank_conflicts) of(copy_bandwidth) of(energy) of(instructions)                  \
      of(launch_overhead) of(links) of(memory_bandwidth) of(memory_latency) of(model_validation) \
          of(occupancy) of(tail_effect) of(topology) of(warp_reduce) of(gemm)
#define FATHOM_CONCLUDE(probe)                       \
  namespace probe {                                  \
  Findings conclude(std::span<const Entry> entries); \
  }
FATHOM_EACH_PROBE(FATHOM_CONCLUDE)
#undef FATHOM_CONCLUDE

/// By the probe's name; empty for one that there is not.
Conclude conclusion_of(std::string_view probe);

// What the conclusions of several draw on.

/// Adds a curve's regimes to the plot that shows it: a stretch each, plateaus with their level in
/// `y_unit` as label, and where a plateau ends a marker with the last x that it holds, in `x_unit`.
/// Units as in format_quantity.
void draw_regimes(View& view, const Segmentation& curve, const std::string& x_unit,
                  const std::string& y_unit);

/// Latencies of single loads in two groups, as near and far parts of a cache would give them.
struct TwoGroups {
  double low = 0, high = 0;  ///< mean of each group
  /// Share of the variance that is between the groups, at the cut where it is largest (Otsu, "A
  /// threshold selection method from gray-level histograms", 1979). 0.64 for one normal
  /// distribution and 0.75 for a uniform one, however wide; towards 1 for two narrow ones.
  double separation = 0;
};

/// From this separation on, two groups are taken to be there.
inline constexpr double bimodal_separation = 0.8;

/// Leaves out the lowest and the highest 1 %: refreshes and the like are no group. Throws
/// std::invalid_argument for an empty span. All alike: one group, separation 0.
TwoGroups two_groups(std::span<const double> latencies);

}  // namespace fathom
