#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::copy_bandwidth {

/// V1 to V11 from bandwidths, sector and request counters and sampled stalls.
Findings conclude(std::span<const Entry> entries);

/// The answer's tables and plots (conclude_views.cpp).
std::vector<View> views();

}  // namespace fathom::copy_bandwidth
