#pragma once

namespace fathom {

// Environment variables by which those who start probes say what they have no use for. Variables
// and no flags, since the gate sets them for builds of before them, which do not know them.

/// "1": leave out the cases that only hardware counters can decide.
inline constexpr const char* timed_only_variable = "FATHOM_CHECK_TIMED_ONLY";
/// Seconds for which a case is sampled at most, instead of the suite's; --time-limit counts above
/// it.
inline constexpr const char* sampling_limit_variable = "FATHOM_CHECK_SAMPLING_LIMIT";

}  // namespace fathom
