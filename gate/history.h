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
  std::size_t run = 0, last_run = 0;  ///< the first of the new level; of a drift its two ends
  double before = 0, after = 0;       ///< levels; of a drift at its two ends
  bool drift = false;
  bool worse = false;
  std::string when{};    ///< "run 13 (2026-01-01T00:00:22Z)"
  std::string beside{};  ///< what of the identity changed then: "driver: 580 and 590 (run 13)"
  double relative() const { return after / before - 1; }
  double size() const { return std::abs(std::log1p(relative())); }
};

/// The runs of one machine and suite, whatever their software, oldest first.
struct MachineHistory {
  std::string title;
  std::size_t runs = 0, metrics = 0;
  std::vector<HistoryChange> changes{};  ///< the largest first
};

/// The change points of one metric over the earlier runs and then the head's, without `when` and
/// `beside`; steps below what counts are left out.
std::vector<HistoryChange> changes_of(const MetricSeries& series);

/// The change points of all metrics (results/statistics.h), by machine. Advisory: no p-value, and
/// many metrics.
std::vector<MachineHistory> history_of(std::vector<RunMetrics> runs);

/// For a terminal.
std::string history_text(const std::vector<MachineHistory>& histories);

}  // namespace fathom::gate
