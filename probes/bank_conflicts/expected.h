#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/warp_access.h"

namespace fathom::bank_conflicts {

/// Holds what one launch wrote (Run::out, of `blocks` blocks) against what it must have written;
/// nothing, or the first difference in words. `iterations` is a multiple of `windows`, and the first
/// `warps` warps of each block made the accesses.
std::optional<std::string> check_output(const models::WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int blocks, int warps);

}  // namespace fathom::bank_conflicts
