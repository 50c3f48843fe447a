#pragma once

namespace fathom {

// What programs are told of their build and by those who start them.

/// "0.2.0", and the commit this program was built from ("1a2b3c4d", with "-dirty" behind it where
/// the tree had changes, "unknown" outside a git checkout).
const char* version();
const char* commit();

// Environment variables by which those who start probes say what they have no use for. Variables
// and no flags, since the gate sets them for builds of before them, which do not know them.

/// "1": leave out the cases that only hardware counters can decide.
inline constexpr const char* timed_only_variable = "FATHOM_CHECK_TIMED_ONLY";
/// Seconds for which a case is sampled at most, instead of the suite's; --time-limit counts above
/// it.
inline constexpr const char* sampling_limit_variable = "FATHOM_CHECK_SAMPLING_LIMIT";

}  // namespace fathom
