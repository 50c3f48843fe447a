#pragma once

#include <vector>

#include "gemm/tuning/compare.h"

// Tiles for small products and numbers of parts of their k, and the tops of the ladders: for
// gemm_small_variants.

namespace fathom::gemm {

/// Blocks of a launch that are worth a try: not less than a sixth of an H200's SMs, and few to
/// each.
inline bool occupies(const Problem& p, int tile_m, int tile_n, int tile_k, int parts) {
  const std::int64_t blocks = (p.n + tile_m - 1) / tile_m * ((p.m + tile_n - 1) / tile_n) * parts;
  return blocks >= 16 && blocks <= 720 && (parts == 1 || blocks <= 432) &&
         p.k >= std::int64_t{tile_k} * parts;
}

namespace half {
std::vector<Trial> small_variants();  ///< of bf16
}
namespace fp8 {
std::vector<Trial> small_variants();  ///< with sums that stay with the tensor cores
}
namespace int8 {
std::vector<Trial> small_variants();
}
namespace fp32 {
std::vector<Trial> small_variants();
}
namespace fp64 {
std::vector<Trial> small_variants();
}

}  // namespace fathom::gemm
