#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/warp_access.h"

namespace fathom::model_validation {

/// Holds what a trial found (kernels.h: `found_words` words) against what its instruction must do:
/// nothing, or what is wrong.
std::optional<std::string> check_found(const models::WarpAccess& access,
                                       std::span<const std::uint32_t> found);

/// Distinct bytes that the active lanes touch.
std::uint32_t distinct_bytes(const models::WarpAccess& access);

}  // namespace fathom::model_validation
