#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gate/decision.h"
#include "gate/rules.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

/// Fewer earlier runs than these say nothing about how runs differ by themselves.
inline constexpr std::size_t fewest_baseline_runs = 5;

/// Compares new runs, one or several of the same thing, with earlier ones of the same identity, the
/// oldest first, by ranks of whole runs (gate/ranks.h), what moves all metrics alike taken out.
/// Where that moved itself, the check is inconclusive; so is what looks worse where so few results
/// cannot be sure. A metric that fewer than `fewest_baseline_runs` have is not decided; one that
/// most of the last five have and the new runs lack is missing.
CheckResult check_stored(std::span<const RunMetrics> baseline, std::span<const RunMetrics> head,
                         const Rules& rules);

/// Takes out of the baseline what is one of these results itself, added before it was checked: of
/// the same date and values. Returns how many.
std::size_t leave_out_themselves(std::vector<RunMetrics>& baseline,
                                 std::span<const RunMetrics> head);

/// Why a baseline without any run of this identity says nothing: how the identity that comes
/// closest differs. `others` has one run of each identity there is.
std::vector<std::string> why_none_like(const RunMetrics& run,
                                       const std::vector<RunMetrics>& others);

}  // namespace fathom::gate
