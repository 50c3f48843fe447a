#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/document.h"
#include "results/query.h"
#include "results/segmentation.h"

namespace fathom::memory_latency {

/// Sizes from the curves of latency over working set: L1 by carve-out, L2 and its partition, the reach of
/// the TLBs and what a miss of theirs costs.
std::vector<Fact> size_facts(std::span<const Entry> entries);

/// The regimes of the curve of latency over working set that `curve` selects; nothing if it has too few
/// points.
std::optional<Segmentation> regimes_of(std::span<const Entry> entries, const AxisFilter& curve);

}  // namespace fathom::memory_latency
