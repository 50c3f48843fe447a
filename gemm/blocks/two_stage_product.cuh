#pragma once

#include <algorithm>
#include <cstddef>

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tile_order.cuh"

namespace fathom::gemm {

/// Dynamic shared memory of `two_stage_product`: two tiles of each operand, and afterwards, in their place,
/// each warp's rows of C.
template <class WarpTile, class Tile>
inline constexpr int two_stage_bytes = std::max(
    2 * (WarpTile::CopyA::bytes + WarpTile::CopyB::bytes), Tile::threads / 32 * WarpTile::Rows::bytes);

/// A block's whole work with two stages of shared memory: the next tile is on its way to registers while the
/// present one is multiplied, and goes into the other stage; one barrier a step. `WarpTile` multiplies.
template <class WarpTile, class Tile, class P>
__device__ __forceinline__ void two_stage_product(const P& p, int tiles_m, int tiles_n, bool vectors,
                                                  std::byte* shared) {
  using CopyA = typename WarpTile::CopyA;
  using CopyB = typename WarpTile::CopyB;
  const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), tiles_m, tiles_n);
  const int tile_row = tile.m * Tile::m, tile_column = tile.n * Tile::n;
  const auto stage_a = [&](int i) { return shared + i * (CopyA::bytes + CopyB::bytes); };
  const auto stage_b = [&](int i) { return stage_a(i) + CopyA::bytes; };

  CopyA copy_a(p, tile_row);
  CopyB copy_b(p, tile_column);
  const bool covers_outer = copy_a.covers_outer() && copy_b.covers_outer();
  const auto load = [&](int k_left) {
    if (covers_outer && k_left >= Tile::k) {
      copy_a.template load<true>(k_left);
      copy_b.template load<true>(k_left);
    } else {
      copy_a.template load<false>(k_left);
      copy_b.template load<false>(k_left);
    }
  };
  load(p.k);
  copy_a.store(stage_a(0));
  copy_b.store(stage_b(0));
  __syncthreads();
  WarpTile warp_tile;
  int reading = 0;
  for (int k_left = p.k - Tile::k;; k_left -= Tile::k) {  // left after the present tile
    // A branch, which also keeps the loads before the products: where the loop had whole tiles alone
    // it ran 4 to 22 % slower on an H200.
    if (k_left > 0) load(k_left);
    warp_tile.multiply(stage_a(reading), stage_b(reading));
    if (k_left <= 0) break;
    reading ^= 1;
    copy_a.store(stage_a(reading));
    copy_b.store(stage_b(reading));
    __syncthreads();
  }
  __syncthreads();  // before C takes the tiles' place
  float* const staged =
      reinterpret_cast<float*>(shared + static_cast<int>(threadIdx.x) / 32 * WarpTile::Rows::bytes);
  warp_tile.store(staged, p, tile_row, tile_column, vectors);
}

}  // namespace fathom::gemm
