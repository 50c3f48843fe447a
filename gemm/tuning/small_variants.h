#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "gemm/tuning/compare.h"

// Tiles for small products and numbers of parts of their k, and the tops of the ladders: for
// gemm_small_variants.

namespace fathom::gemm {

/// Blocks of a launch that are worth a try: not less than 16, an eighth of an H200's SMs, and few
/// to each.
inline bool occupies(const Problem& p, int tile_m, int tile_n, int tile_k, int parts) {
  const std::int64_t blocks = (p.n + tile_m - 1) / tile_m * ((p.m + tile_n - 1) / tile_n) * parts;
  return blocks >= 16 && blocks <= 720 && (parts == 1 || blocks <= 432) &&
         p.k >= std::int64_t{tile_k} * parts;
}

/// "32x32 warps 16x16 stages 3".
template <class Tile>
std::string name_by_warps() {
  return std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + " warps " +
         std::to_string(Tile::warp_m) + "x" + std::to_string(Tile::warp_n) + " stages " +
         std::to_string(Tile::stages);
}

/// Adds a tile, whose k these numbers of blocks share.
template <class Tile>
void add_tile(std::vector<Trial>& list, const std::string& name,
              void (*launch)(const Arguments&, int parts, cudaStream_t),
              bool (*takes)(const Problem&), std::initializer_list<int> parts) {
  for (const int count : parts) {
    list.push_back(
        {name + " parts " + std::to_string(count),
         [](const Problem&, int) { return std::size_t{0}; },
         [=](const Arguments& a, const Workspace&, cudaStream_t s) { launch(a, count, s); }, takes,
         [=](const Problem& p) { return occupies(p, Tile::m, Tile::n, Tile::k, count); }});
  }
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
