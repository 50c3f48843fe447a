#pragma once

#include <span>

#include "harness/probe.h"

namespace fathom::warp_reduce {

/// R1 from the 1 GiB sums and the copy, R2 from the warp stage's clocks.
Findings conclude(std::span<const Entry> entries);

}  // namespace fathom::warp_reduce
