#pragma once

#include <optional>
#include <string>

#include "gate/evidence.h"

namespace fathom::gate {

/// Why a change is not the program's: the clock or what holds it down changed, and in cycles
/// nothing did. Nothing where the clocks do not explain it. What held the clock down explains alone
/// at most as much as the clock can have fallen by, or anything where the clock is not known.
/// `evidence` is what was concluded from the series' own values.
std::optional<std::string> clock_explanation(const MetricSeries& series, const Evidence& evidence);

/// For a regression that no clock explains: a sentence, after a space, about what held the clock
/// down if that changed; else empty.
std::string clock_remark(const MetricSeries& series);

}  // namespace fathom::gate
