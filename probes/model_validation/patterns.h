#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "models/warp_access.h"

namespace fathom::model_validation {

/// Addresses of a pattern stay below this, its last byte included. Shared memory: what a block of
/// any GPU may have without asking. Global: far enough for lanes to lie in pages of 64 KiB.
inline constexpr std::uint64_t shared_region_bytes = 32 * 1024;
inline constexpr std::uint64_t global_region_bytes = 1024 * 1024;

enum class Space { shared, global };

std::uint64_t region_bytes(Space space);

const char* name(Space space);  ///< "shared"
const char* name(models::Access op);

/// Kinds of pattern, each drawn equally often.
inline constexpr int pattern_kinds = 14;
struct RandomPattern {
  const char* kind;  ///< "tile-column"
  models::WarpAccess access;
};

/// An endless series of valid patterns for one space, operation and width. The same seed gives the
/// same series on every machine; the standard library's distributions would not.
std::function<RandomPattern()> random_patterns(Space space, models::Access op, int bytes_per_lane,
                                               std::uint64_t seed);

/// A row of the table that `fathom predict shared|global --patterns` reads:
/// "load,8,0,8,,24,...", an empty field for an inactive lane.
std::string csv_row(const models::WarpAccess& access);

/// Holds what a trial found (kernels.h: `found_words` words) against what its instruction must do:
/// nothing, or what is wrong.
std::optional<std::string> check_found(const models::WarpAccess& access,
                                       std::span<const std::uint32_t> found);

}  // namespace fathom::model_validation
