#pragma once

namespace fathom {

/// Environment variable: set to "1" it has probes leave out the cases that only hardware counters
/// can decide, for a caller that has no use for them. A variable and no flag, since the gate sets
/// it for builds of before it, which do not know it.
inline constexpr const char* timed_only_variable = "FATHOM_CHECK_TIMED_ONLY";

}  // namespace fathom
