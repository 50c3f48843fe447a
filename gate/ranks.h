#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gate/decision.h"

namespace fathom::gate {

// Two samples compared by ranks; neither is empty, and all values are finite.

/// One-sided p-value of the Wilcoxon-Mann-Whitney rank-sum test: the probability, if base and head
/// are exchangeable, of a rank sum of `head` at least as large as the one seen. Exact, with
/// mid-ranks, for some dozens of values.
double rank_test_greater(std::span<const double> base, std::span<const double> head);

/// The smallest p-value that the test can give: 1 over the ways to choose `head` of all values.
double smallest_rank_p(std::size_t base, std::size_t head);

/// Hodges and Lehmann's estimate of how much larger head is than base (1963): the median of all
/// pairwise differences. Its interval is from two of them, by the rank test's distribution: the
/// narrowest that reaches `interval_confidence`; the whole range of the differences, with the lower
/// confidence that it has, where none does.
struct Shift {
  double estimate = 0;
  Interval interval;
};
Shift shift_of(std::span<const double> base, std::span<const double> head);

/// Holm's adjusted p-values (1979), in the order given: rejecting those that are at most alpha
/// keeps the probability of any false rejection at alpha, whatever the dependence.
std::vector<double> holm_adjusted(std::span<const double> p_values);

// Whether the last runs of a suite, the results of the head, are worse than chance explains: by
// ranks of runs, and so whatever the noise's distribution and however the metrics go together (the
// maxT method of Westfall and Young, "Resampling-based multiple testing", 1993; how it is used
// here: docs/gate/method.md).

/// One metric, larger is worse; NaN where a run lacks it. The earlier runs in their order in time,
/// then the results of the head, which all have it.
struct RunValues {
  std::vector<double> worse;
  bool follows = true;  ///< the machine: logarithms of a time or a rate, and no ratio
  /// Scale and least effect are given, the others ranked: p is the share of the groups of runs that
  /// score as high in any metric.
  Evidence evidence;
  double score = 0;      ///< spreads by which even its best result is worse
  bool suspect = false;  ///< farther out than runs that did not change are in most suites
  bool sure = false;     ///< worse, at the level asked for
};

/// What moves all metrics that follow the machine alike, as the median over them.
struct CommonFactor {
  double head = 0;  ///< the median over the head's results, from that over the earlier runs
  /// By how much the head's is beyond every earlier run and where their drift leads; below zero: it
  /// is better. Zero: it is within.
  double beyond = 0;
};

/// With fewer metrics than these a slower machine cannot be told from slower code.
inline constexpr std::size_t fewest_for_common_factor = 5;

/// Takes the common factor out of the metrics that follow it; nothing where they are too few.
std::optional<CommonFactor> take_out_common_factor(std::vector<RunValues>& metrics,
                                                   std::size_t earlier);

/// Whether the earlier runs' trend leads away, for the worse, by what counts.
bool drifts(const RunValues& metric, std::size_t earlier);

/// Ranks the head for the worse. `level`: false alarms of a whole suite in both directions, of
/// which this one has half. A single result among fewer runs than ranks need (49 for 2 %) is sure
/// where it can be and is far beyond all: by as much as keeps the level for tails as heavy as those
/// of Student's t with two degrees of freedom. Each metric is in an earlier run.
void rank_runs(std::vector<RunValues>& metrics, std::size_t earlier, double level);

/// Whether this many results can be sure of anything, and how many it takes.
bool can_be_sure(std::size_t earlier, std::size_t results, double level);
std::size_t results_needed(std::size_t earlier, std::size_t results, double level);

}  // namespace fathom::gate
