#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"
#include "results/query.h"
#include "results/segmentation.h"

namespace fathom::memory_latency {

/// Latency of every level in cycles and in seconds; the L2's near and far parts; distributed shared
/// memory by cluster size.
std::vector<Fact> latency_facts(std::span<const Entry> entries);

/// Sizes from the curves of latency over working set: L1 by carve-out, L2 and its partition, the
/// reach of the TLBs and what a miss of theirs costs.
std::vector<Fact> size_facts(std::span<const Entry> entries);

/// The regimes of the curve of latency over working set that `curve` selects; nothing if it has too
/// few points.
std::optional<Segmentation> regimes_of(std::span<const Entry> entries, const AxisFilter& curve);

/// Sizes of the constant caches, and of the instruction caches with what an instruction from each
/// costs.
std::vector<Fact> code_and_constant_facts(std::span<const Entry> entries);

// Sizes that no chase has to find out, since the driver says them. The cases carry them as extras,
// in bytes, so that a recording states them too.

inline constexpr const char* register_bytes = "register_bytes_per_sm";
inline constexpr const char* shared_bytes = "shared_bytes_per_sm";
inline constexpr const char* memory_bytes = "memory_bytes";

/// registers.size, shared.size, dram.size.
std::vector<Fact> driver_size_facts(std::span<const Entry> entries);

/// Line sizes of the L1 and the L2, and what a miss of each brings along.
std::vector<Fact> line_facts(std::span<const Entry> entries);

/// Ways of the L1 and the L2, or the evidence that their sets are hashed: how many lines of a wide
/// stride they keep; and the slices of the L2.
std::vector<Fact> set_facts(std::span<const Entry> entries);

}  // namespace fathom::memory_latency
