#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/gate/evidence.h"

namespace fathom::gate {

/// Why a change is not the program's: the clock or what holds it down changed, and in cycles
/// nothing did. Nothing where the clocks do not explain it, or are not known. `evidence` is what
/// was concluded from the times, `effect` the least that counts.
std::optional<std::string> clock_explanation(const MetricSeries& series, const Evidence& evidence,
                                             const GateOptions& options, double effect);

/// Whether a metric of this unit follows a clock at all: times and rates do, cycles, counts and
/// ratios do not.
bool follows_clock(const std::string& unit);

}  // namespace fathom::gate
