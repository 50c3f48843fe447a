#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::memory_latency {

/// Facts from the chases: latencies from the points inside each level, sizes from the curves, line
/// and fetch granularity from what hits. A fact whose entries are not there says so.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
