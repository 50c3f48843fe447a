#pragma once

#include "results/findings.h"
#include "results/statistics.h"

namespace fathom::memory_latency {

/// From the curves of latency over working set: L1 by carve-out, L2 and its partition, TLBs,
/// constant and instruction caches.
std::vector<Fact> size_facts(std::span<const Entry> entries);

/// The line size of the L1 and the L2, what a miss brings along, and how many lines of a wide
/// stride each keeps, which says whether its sets are hashed; and the slices of the L2.
std::vector<Fact> cache_facts(std::span<const Entry> entries);

/// Extras of cases: what the driver says, in bytes.
inline constexpr const char *register_bytes = "register_bytes_per_sm",
                            *shared_bytes = "shared_bytes_per_sm", *memory_bytes = "memory_bytes";

/// The entries of a level's own latency.
inline AxisFilter at(const char* level, const char* instruction,
                     const char* method = "unrolled chase") {
  return {{"sweep", "latency"}, {"level", level}, {"instruction", instruction}, {"method", method}};
}

inline constexpr const char* working_set = "working set (B)";

/// A curve as far as it was measured, and its regimes: none of too few points.
struct Curve {
  std::vector<const Entry*> entries;
  std::optional<Segmentation> cut;
  bool ends(std::size_t regime) const {
    return cut && !cut->regimes.empty() && regime < cut->regimes.size() - 1;
  }
};
Curve curve(std::span<const Entry> all, const AxisFilter& filter,
            RampScale scale = RampScale::log2);

template <class Entries>
void add_evidence(Fact& fact, const Entries& entries) {
  for (const Entry* entry : entries) {
    fact.evidence.push_back(entry->name);
    fact.repeats += static_cast<int>(entry->samples.size());
  }
}

}  // namespace fathom::memory_latency
