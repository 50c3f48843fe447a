#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/facts.h"
#include "results/query.h"
#include "results/segmentation.h"

// How a curve of latency over working set becomes sizes.

namespace fathom::memory_latency {

inline constexpr const char* working_set = "working set (B)";

/// A curve that was measured well enough to be cut, and its regimes.
struct Curve {
  std::vector<const Entry*> entries;
  std::optional<Segmentation> cut;  ///< empty: too few points
  int samples = 0;
};
Curve curve(std::span<const Entry> all, const AxisFilter& filter,
            RampScale scale = RampScale::log2);

inline constexpr const char* no_curve =
    "its curve was left out of this run, or too much of it failed";

void add_evidence(Fact& fact, const Curve& c);

Fact missing_size(std::string id, std::string subject, std::string reason);

/// The curve's boundary `index` as a size.
Fact size_at(const Curve& c, std::size_t index, std::string id, std::string subject,
             std::string quantity);

/// Why a curve that was cut has no boundary.
std::string no_change(const Curve& c);

/// The boundary beyond which there are misses, if there is one. A regime whose latency is within
/// two percent of the first one's is still hits, however surely the two are told apart.
std::optional<std::size_t> end_of_hits(const Segmentation& cut);

}  // namespace fathom::memory_latency
