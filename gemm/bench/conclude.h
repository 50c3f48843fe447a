#pragma once

#include <span>
#include <string>
#include <vector>

#include "gemm/bench/shapes.h"
#include "results/findings.h"

namespace fathom::gemm {

Findings conclude(std::span<const Entry> entries);

// What conclusions are made of.

/// A type's rungs at a size.
AxisFilter at_size(const std::string& type, std::int64_t size);

/// The rung of an entry of the ladder: "row_major/02_coalesced".
const std::string& rung_of(const Entry& entry);

/// How an fp8 rung and its library add up: "fast sums" or "promoted sums"; empty for other types.
std::string sums_of(const Entry& entry);

/// Rungs of one type that did one product, and have a throughput for it.
struct Ladder {
  std::string type;
  std::string product;  ///< "at 4096³", or of the command line's "NN 128x8192x8192"
  AxisFilter where;
  std::vector<const Entry*> rungs{};  ///< in order; at least one
  bool requested = false;             ///< by the command line
};
/// Type by type, the ladder at the shown size and what was requested.
std::vector<Ladder> ladders_of(std::span<const Entry> entries);

std::vector<Claim> conclude_claims(std::span<const Entry> entries);
/// T2: whether a product whose size just passes a tile or a wave pays for it.
ClaimRow tile_claim(std::span<const Entry> entries);
/// The saw-tooth of T2's model for a type, in FLOP a cycle.
std::vector<PlotStretch> saw_tooth(std::span<const Entry> entries, const std::string& type);

/// The ladder's page: for each measured type its rungs, what each step gained, the roofline, the
/// contests, layouts, sizes and lasting load; the same of the command line's product.
std::vector<View> ladder_views(std::span<const Entry> entries);

}  // namespace fathom::gemm
