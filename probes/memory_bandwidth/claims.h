#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::memory_bandwidth {

/// Facts from the headlines of each level and from what saturates the L2 and DRAM. A fact whose
/// entries are not there says so.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::memory_bandwidth
