#pragma once

#include <cstdint>

namespace fathom::model_validation {

/// Addresses of a pattern stay below this, its last byte included. Shared memory: what a block of
/// any GPU may have without asking. Global: far enough for lanes to lie in pages of 64 KiB.
inline constexpr std::uint64_t shared_region_bytes = 32 * 1024;
inline constexpr std::uint64_t global_region_bytes = 1024 * 1024;

}  // namespace fathom::model_validation
