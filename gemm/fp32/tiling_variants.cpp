#include "gemm/fp32/tiling_variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "gemm/fp32/tilings.h"

namespace fathom::gemm::fp32 {
namespace {

/// Rounds of blocks on an SM beyond which there is nothing left that more parts could even out.
constexpr std::int64_t most_rounds = 8;

Variant variant_of(const TilingChoice& tiling, int parts, const Problem& problem) {
  Variant variant;
  variant.name = fmt::format("{} in {} {}", tiling.name, parts, parts == 1 ? "part" : "parts");
  variant.kernel = tiling.kernel;
  variant.kernel.parts = parts;
  variant.workspace_bytes = bytes_of_parts(problem, parts);
  variant.launch = [&tiling, parts](const Arguments& arguments, const Workspace& workspace,
                                    cudaStream_t stream) {
    tiling.launch(arguments, parts, reinterpret_cast<float*>(workspace.data), stream);
  };
  return variant;
}

/// Of the numbers of parts that give the busiest SM as many blocks, the largest: its blocks are shortest.
std::vector<int> useful_parts(std::int64_t tiles, int most, int sms) {
  std::vector<int> parts{1};
  for (std::int64_t rounds = ceil_div(tiles, sms); rounds <= most_rounds; ++rounds) {
    const int largest = static_cast<int>(std::min<std::int64_t>(rounds * sms / tiles, most));
    if (largest > parts.back()) parts.push_back(largest);
  }
  return parts;
}

}  // namespace

std::vector<Variant> tiling_variants(const Problem& problem, int sms) {
  const Plan plan = make_plan(problem, sms);
  if (plan.tiling == nullptr) return {};
  std::vector<Variant> variants{variant_of(*plan.tiling, plan.parts, problem)};
  // As the tilings see it: row-major.
  const std::int64_t m = problem.n, n = problem.m;
  for (const TilingChoice& tiling : tilings()) {
    if (!fits(tiling, m, n, problem.k)) continue;
    const std::int64_t tiles = ceil_div(m, tiling.m) * ceil_div(n, tiling.n);
    for (const int parts : useful_parts(tiles, most_parts(tiling, problem.k), sms)) {
      if (&tiling == plan.tiling && parts == plan.parts) continue;
      variants.push_back(variant_of(tiling, parts, problem));
    }
  }
  return variants;
}

}  // namespace fathom::gemm::fp32
