#include <fmt/format.h>

#include "gemm/claimed_products.h"
#include "gemm/conclude_parts.h"
#include "results/format.h"
#include "results/query.h"

// What is claimed of fp16 on the tensor cores by way of wmma.

namespace fathom::gemm {
namespace {

/// "Far below the library": less than half of it.
constexpr double far_below = 0.5;
/// "100 %": this share at least.
constexpr double all_of_it = 0.95;

Claim straight_from_global(std::span<const Entry> entries) {
  Claim claim = make_claim("G5", "Tensor cores by WMMA, straight from global memory, fp16 at 4096 cubed",
                           "far below the library");
  const Entry* rung = ladder_entry(entries, "fp16", "01_wmma_global");
  // Documents from before the lessons.
  if (rung == nullptr) rung = ladder_entry(entries, "fp16", "02_wmma_global");
  const std::optional<Library> library = library_of(entries, "fp16");
  if (rung == nullptr || !library) return claim;
  const double share = *rung->metric.value / library->throughput;
  claim.verdict = share < far_below ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} %: {} against {} of {}", 100 * share,
                             format_quantity(*rung->metric.value, "FLOP/s"),
                             format_quantity(library->throughput, "FLOP/s"), library->name);
  claim.evidence = {rung->name, library->evidence};
  return claim;
}

Claim share_of_peak(std::span<const Entry> entries) {
  Claim claim = make_claim("G6",
                           "WMMA, 256 threads, block K of 32, rows padded by 8, two stages, alpha = beta = 0.5, "
                           "fp16 at 8192 cubed: its share of the dense fp16 peak",
                           "100 % (165.1 TFLOP/s of an RTX 4090)");
  const auto measured = [&](const char* rung) {
    return find_measured(entries, {{"part", claimed_part}, {"type", "fp16"}, {"rung", rung}});
  };
  const Entry* rung = measured("02_wmma_shared");
  if (rung == nullptr) rung = measured("03_wmma");  // documents from before the lessons
  if (rung == nullptr) return claim;
  claim.evidence = {rung->name};
  claim.figure = format_quantity(*rung->metric.value, "FLOP/s");
  const auto peak = rung->extras.find(published_peak_key);
  if (peak == rung->extras.end()) {
    claim.figure += "; the peak of this GPU is not known";
    return claim;
  }
  const double share = *rung->metric.value / peak->second;
  claim.verdict = share >= all_of_it ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} %: {} of the published {}", 100 * share, claim.figure,
                             format_quantity(peak->second, "FLOP/s"));
  const Entry* top = best_of_ladder(entries, "fp16");
  if (top != nullptr && *top->metric.value > *rung->metric.value) {
    claim.figure += fmt::format("; {} has {} at 4096 cubed", rung_of(*top),
                                format_quantity(*top->metric.value, "FLOP/s"));
    claim.evidence.push_back(top->name);
  }
  return claim;
}

}  // namespace

std::vector<Claim> half_claims(std::span<const Entry> entries) {
  return {straight_from_global(entries), share_of_peak(entries)};
}

}  // namespace fathom::gemm
