#pragma once

#include <span>

#include "probes/claims.h"

namespace fathom::atomics {

// Names that the cases give their axes' values, and the conclusion finds them by.

inline constexpr const char* one_address = "one address";
inline constexpr const char* address_a_warp = "one address a warp";
inline constexpr const char* one_line = "the words of one line";
inline constexpr const char* own_words =
    "own words";  ///< neighbours in a warp, no two threads share
inline constexpr const char* sweeping_lines = "a line a warp";
inline constexpr const char* sector_a_lane = "a sector a lane";
inline constexpr const char* line_a_lane = "a line a lane";

}  // namespace fathom::atomics
