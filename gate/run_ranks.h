#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fathom::gate {

// Whether the last runs of a suite, the results of the head, are worse than chance explains: by
// ranks of runs, and so whatever the noise's distribution and however the metrics go together.
//
// If nothing changed, the head's h results are any h of all N runs. So each group of h runs is
// judged as the head is, against the runs that are not in it: its score is the largest over the
// metrics of how far even its best run is above the others' third quartile, in spreads of those. A
// metric of the head that scores above all but a share of the groups is worse at that level, for
// the whole suite (the maxT method of Westfall and Young, "Resampling-based multiple testing",
// 1993).

/// One metric, larger is worse; NaN where a run lacks it. The earlier runs in their order in time,
/// then the results of the head.
struct RunValues {
  std::vector<double> worse;
  double least = 0;      ///< the effect that counts, on the same scale
  bool follows = true;   ///< the machine: logarithms of a time or a rate, and no ratio
  bool relative = true;  ///< logarithms
};

/// What moves all metrics that follow the machine alike, as the median over them.
struct CommonFactor {
  std::vector<double> of_runs;  ///< from its own median over the earlier runs
  double head = 0;              ///< the median over the head's results
  /// By how much the head's is beyond every earlier run and where their drift leads; below zero: it
  /// is better. Zero: it is within.
  double beyond = 0;
};

/// With fewer metrics than these a slower machine cannot be told from slower code.
inline constexpr std::size_t fewest_for_common_factor = 5;

/// Takes the common factor out of the metrics that follow it; nothing where they are too few.
std::optional<CommonFactor> take_out_common_factor(std::vector<RunValues>& metrics,
                                                   std::size_t earlier);

/// What the ranks say of one metric of the head.
struct RunRank {
  double score = 0;      ///< spreads by which even its best result is worse
  double p = 1;          ///< share of the groups that score as high in any metric
  double limit = 0;      ///< how much worse it must be for more than a pass, on the metric's scale
  double spread = 0;     ///< of its earlier runs
  bool suspect = false;  ///< farther out than runs that did not change are in most suites
  bool sure = false;     ///< worse, at the level asked for
};

/// Whether the earlier runs' trend leads away, for the worse, by what counts.
bool drifts(const RunValues& metric, std::size_t earlier);

/// Ranks the head for the worse. `level`: false alarms of a whole suite in both directions, of
/// which this one has half. A single result among fewer runs than ranks need (49 for 2 %) is sure
/// where it can be and is far beyond all: by as much as keeps the level for tails as heavy as those
/// of Student's t with two degrees of freedom.
std::vector<RunRank> rank_runs(const std::vector<RunValues>& metrics, std::size_t earlier,
                               double level);

/// Whether this many results can be sure of anything, and how many it takes.
bool can_be_sure(std::size_t earlier, std::size_t results, double level);
std::size_t results_needed(std::size_t earlier, std::size_t results, double level);

}  // namespace fathom::gate
