#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/decision.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

/// One metric's values over the rounds or runs of both sides; the values that may be used.
struct MetricSeries {
  std::string name, unit;
  Better better = Better::lower;
  std::vector<MetricValue> base, head;
  std::string problem;  ///< why a value of the head must not be used
  std::string
      redefined;  ///< what it became, where its unit or direction is not the same throughout
  std::vector<std::size_t> base_runs{}, head_runs{};  ///< of which run each value is
};

/// All metrics of all runs, in the order in which they are first met: the base's runs first.
std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head);

/// The values so that larger is worse: logarithms where every value of both sides is above zero,
/// else the values themselves (a count of errors that was 0).
struct Badness {
  bool relative = true;
  std::vector<double> base, head;
};
Badness badness_of(const MetricSeries& series);

/// Standard deviation of values around the median of their side, both sides together, by the median
/// absolute deviation: a single bad round does not move it. Zero for fewer than two values on
/// each side.
double spread_of_sides(std::span<const double> base, std::span<const double> head);

/// The median of it over the metrics; 0 where none has any.
double usual_spread(const std::vector<MetricSeries>& series);

/// Of rounds that took turns: the rank test, with the head's values moved back by half the
/// threshold for effects, so that what is below it is flagged no more often than nothing at all.
/// The noise floor is the standard error of a difference of two means of so many rounds: how far
/// the sides differ by chance. Needs at least one value on each side.
Evidence evidence_of_rounds(const MetricSeries& series, const GateOptions& options, double effect);

/// The smallest p-value that `more` further rounds a side can bring it to.
double least_p_with_more(const MetricSeries& series, double effect, std::size_t more);

/// The other direction: how much better. Same noise, threshold and interval, mirrored.
MetricSeries mirrored(MetricSeries series);

}  // namespace fathom::gate
