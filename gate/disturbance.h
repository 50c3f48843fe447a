#pragma once

#include <string>
#include <vector>

#include "gate/evidence.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

// Whether something else used the machine while rounds ran. Then they decide nothing: what became
// slower may be that, and what did not become slower may have been hidden by it. The signs, each
// above 1 %, the last two also above what the rounds' own noise explains:
//   - another process used the GPU in some rounds and not in others (one that was there all the
//     time, idle or not, hit both sides alike);
//   - what one process measured several times differed, in the median over its metrics;
//   - the rounds of one side differ as a whole, by the mid-hinge over the metrics: a load may slow
//     a third of them and leave the rest, and a median would not move;
//   - at least two of the metrics that had not changed before differ between the sides.
// Fewer than five metrics cannot tell noise of one from a disturbance of all.

/// The rounds of both sides.
struct Rounds {
  std::vector<RunMetrics> base, head;
};

/// The first sign in rounds of everything, in words; empty if there is none.
std::string disturbance_of(const Rounds& rounds, const std::vector<MetricSeries>& series);

/// The same of fresh rounds, after those `before`, in which the metrics of `steady` did not change.
std::string disturbance_of_fresh(const Rounds& fresh, const Rounds& before,
                                 const std::vector<MetricSeries>& steady);

}  // namespace fathom::gate
