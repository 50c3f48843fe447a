#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "gate/evidence.h"

namespace fathom::gate {

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
/// nothing did. Nothing where the clocks do not explain it. What held the clock down explains alone
/// at most as much as the clock can have fallen by, or anything where the clock is not known.
/// `evidence` is what was concluded from the series' own values.
std::optional<std::string> clock_explanation(const MetricSeries& series, const Evidence& evidence);

/// For a regression that no clock explains: a sentence, after a space, about what held the clock
/// down if that changed; else empty.
std::string clock_remark(const MetricSeries& series);

}  // namespace fathom::gate
