#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::gemm {

/// What the ladder's page shows: for each type that was measured a section with its rungs, what each step
/// gained, the counters, the roofline and the sizes; and the contests and lasting load of all.
std::vector<View> ladder_views(std::span<const Entry> entries);

}  // namespace fathom::gemm
