#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/decision.h"
#include "gate/rules.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

/// One metric's values over the rounds or runs of both sides; the values that may be used.
struct MetricSeries {
  std::string name, unit;
  Better better = Better::lower;
  std::vector<MetricValue> base{}, head{};
  std::string problem{};    ///< why a value of the head must not be used
  std::string redefined{};  ///< what it became, where unit or direction is not the same throughout
  bool other_unit = false;
  std::vector<std::size_t> base_runs{};  ///< of which run each of the base's values is
  const Rule* rule = nullptr;            ///< the user's for it; null: none

  /// The least relative effect that counts.
  double effect() const { return rule && rule->threshold ? *rule->threshold : effect_that_counts; }
};

/// All metrics of all runs, in the order in which they are first met: the base's runs first.
/// `rules` outlive them.
std::vector<MetricSeries> series_of(std::span<const RunMetrics> base,
                                    std::span<const RunMetrics> head, const Rules& rules = {});

/// The values so that larger is worse: logarithms where every value of both sides is above zero,
/// else the values themselves (a count of errors that was 0).
struct OrientedSamples {
  bool relative = true;
  std::vector<double> base, head;

  /// A relative effect on the scale of the values: of a logarithm, or of the base's own size.
  double on_scale(double effect) const;
  /// Standard deviation around the median of the own side, both sides together, by the median
  /// absolute deviation: a single bad round does not move it. Zero for fewer than four values.
  double spread() const;
  /// How far the sides differ by chance: the standard error of a difference of two means.
  double noise_floor() const;
};
OrientedSamples oriented(const MetricSeries& series);

/// The rank test for rounds that took turns. The head's values are moved back by half of the least
/// change that counts, so that a smaller change is flagged no more often than no change. Needs at
/// least one value on each side.
Evidence evidence_of_rounds(const MetricSeries& series);

/// The smallest p-value that `more` further rounds a side can bring it to.
double least_p_with_more(const MetricSeries& series, std::size_t more);

// The steps from evidence to a verdict that both modes share.

/// Medians, and what is decided without any statistics: ignored, missing, added; else unchanged.
MetricDecision first_decision(const MetricSeries& series);

/// The medians alone, and of how many rounds or runs they are.
void take_values(const MetricSeries& series, MetricDecision& decision);

/// "3.1 %" (of the value), or the difference itself where there is no ratio; without a sign.
std::string change_words(const MetricDecision& decision);

/// "p = 0.0012"; below a millionth only that it is: the distributions' far ends are nobody's data.
std::string p_words(double p);

/// Why a change is not the program's: the clock or what holds it down changed, and in cycles
/// nothing did. Empty where the clocks do not explain it. What held the clock down explains alone
/// at most as much as the clock can have fallen by, or anything where the clock is not known.
/// `evidence` is what was concluded from the series' own values.
std::string clock_explanation(const MetricSeries& series, const Evidence& evidence);

/// For a regression that no clock explains: a sentence, after a space, about what held the clock
/// down if that changed; else empty.
std::string clock_remark(const MetricSeries& series);

}  // namespace fathom::gate
