#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gate/evidence.h"

namespace fathom::gate {

// The steps from evidence to a verdict that both modes share.

/// By half of what counts: worth another look.
bool looks_worse(const Evidence& evidence);

/// Medians, and what is decided without any statistics: ignored, missing, added; else unchanged.
MetricDecision first_decision(const MetricSeries& series);

/// Decides a metric that not all `rounds` of a side have, and returns whether that is so. `again`:
/// of fresh rounds.
bool decide_if_rounds_lack(const MetricSeries& series, std::size_t rounds, bool again,
                           MetricDecision& decision);

/// "3.1 %" (of the value), or the difference itself where there is no ratio; without a sign.
std::string change_words(const MetricDecision& decision);

/// "p = 0.0012"; below a millionth only that it is: the distributions' far ends are nobody's data.
std::string p_words(double p);

/// Decides suspects on fresh rounds: regression, inconclusive (too noisy, the clock moved,
/// `disturbed` says what disturbed the machine, and then nothing is decided), or unchanged. What is
/// no suspect may have become better: improved or unchanged. `decisions[i]` is of `series[i]`.
void judge(const std::vector<MetricSeries>& series, const std::vector<MetricDecision*>& decisions,
           bool suspects, const std::string& disturbed);

}  // namespace fathom::gate
