#include <fmt/format.h>

#include "gemm/conclude_parts.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

constexpr const char* shared_tiles = "01_shared_memory";

/// Of all wavefronts. A layout that conflicts costs every load of a warp another wavefront or more;
/// the counter also has a few where loads meet another warp's stores, which no layout answers for
/// (an H200 counts 0.015 % for this kernel).
constexpr double no_conflicts = 0.001;

}  // namespace

Claim conflicts_of_doubles(std::span<const Entry> entries) {
  Claim claim = make_claim(
      "S7",
      "A 16x16 tiled product of doubles has no bank conflict: one operand broadcasts, the "
      "other is contiguous per half-warp",
      "zero conflicts");
  const Entry* rung = ladder_entry(entries, "fp64", shared_tiles);
  if (rung == nullptr) return claim;
  const auto loads = counter_value(*rung, "shared_load_conflicts");
  const auto wavefronts = counter_value(*rung, "shared_load_wavefronts");
  // Without wavefronts nothing was counted, and no conflicts mean nothing.
  if (!loads || !wavefronts || !(*wavefronts > 0)) return claim;
  const double share = *loads / *wavefronts;
  claim.verdict = share <= no_conflicts ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.0f} conflicts in {:.0f} wavefronts of loads ({:.3f} %)", *loads,
                             *wavefronts, 100 * share);
  claim.evidence = {rung->name};
  return claim;
}

Claim doubles_by_shared_tiles(std::span<const Entry> entries) {
  Claim claim =
      make_claim("G4", "fp64 by shared-memory tiles: the kernel of S7 computes the product",
                 "no figure given");
  const Entry* rung = ladder_entry(entries, "fp64", shared_tiles);
  if (rung == nullptr) return claim;
  // An entry has a figure only if its C was right against a reference of twice the precision.
  claim.verdict = ClaimVerdict::confirmed;
  claim.figure = format_quantity(*rung->metric.value, "FLOP/s");
  claim.evidence = {rung->name};
  if (const std::optional<Library> library = library_of(entries, "fp64")) {
    claim.figure +=
        fmt::format(", {:.1f} % of {}'s {}", 100 * *rung->metric.value / library->throughput,
                    library->name, format_quantity(library->throughput, "FLOP/s"));
    claim.evidence.push_back(library->evidence);
  }
  return claim;
}

}  // namespace fathom::gemm
