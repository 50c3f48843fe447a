#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "gate/decision.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

/// Where a metric changed for good, over the runs of one machine.
struct HistoryChange {
  std::string metric, unit;
  std::size_t run = 0, last_run = 0;  ///< the first of the new level, twice; a drift's two ends
  double before = 0, after = 0;       ///< levels; of a drift at its two ends
  bool drift = false;
  bool worse = false;
  double relative() const { return after / before - 1; }
  double size() const { return std::abs(std::log1p(relative())); }
};

/// The change points (results/statistics.h) of one metric over the earlier runs and then the
/// head's; steps below what counts are left out.
std::vector<HistoryChange> changes_of(const MetricSeries& series);

/// The change points of all metrics by machine, for a terminal. Advisory: no p-value, and many
/// metrics.
std::string history_text(std::vector<RunMetrics> runs);

}  // namespace fathom::gate
