#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::topology {

/// Which SMs sit together and where the L2 is from them, by what their latencies, clusters and
/// contention agree on. A fact whose entries are not there says so.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::topology
