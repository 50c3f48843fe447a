#pragma once

#include <span>
#include <vector>

#include "results/document.h"

namespace fathom::memory_latency {

// Sizes that no chase has to find out, since the driver says them. The cases carry them as extras,
// in bytes, so that a recording states them too.

inline constexpr const char* register_bytes = "register_bytes_per_sm";
inline constexpr const char* shared_bytes = "shared_bytes_per_sm";
inline constexpr const char* memory_bytes = "memory_bytes";

/// registers.size, shared.size, dram.size.
std::vector<Fact> driver_size_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
