#pragma once

#include <algorithm>
#include <cstddef>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tile_order.cuh"

namespace fathom::gemm {

/// Dynamic shared memory of `multistage_product`: tiles of both operands, and afterwards, in their place, each
/// warp's rows of C.
template <class WarpTile, class Tile>
inline constexpr int multistage_bytes = std::max(
    Tile::stages * (WarpTile::CopyA::bytes + WarpTile::CopyB::bytes),
    Tile::threads / 32 * WarpTile::Rows::bytes);

/// A block's whole work with Tile::stages stages of shared memory that asynchronous copies fill, all but
/// one ahead, and fragments that are read 16 of k ahead; one barrier a tile. `WarpTile` reads and
/// multiplies.
template <class WarpTile, class Tile, class P>
__device__ __forceinline__ void multistage_product(const P& p, int tiles_m, int tiles_n,
                                                   bool vectors, std::byte* shared) {
  using CopyA = typename WarpTile::CopyA;
  using CopyB = typename WarpTile::CopyB;
  constexpr int stages = Tile::stages;
  static_assert(stages >= 2 && WarpTile::steps % 2 == 0);
  constexpr std::uint32_t stage_bytes = CopyA::bytes + CopyB::bytes;
  const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), tiles_m, tiles_n);
  const int tile_row = tile.m * Tile::m, tile_column = tile.n * Tile::n;
  const std::uint32_t base = shared_address(shared), end = base + stages * stage_bytes;

  CopyA copy_a(p, tile_row);
  CopyB copy_b(p, tile_column);
  const auto copy_next = [&](std::uint32_t stage, int k_left) {
    if (k_left > 0) {
      copy_a.copy(stage, k_left);
      copy_b.copy(stage + CopyA::bytes, k_left);
    }
    async_commit();  // an empty group where nothing is left, to count alike
  };
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) copy_next(base + s * stage_bytes, p.k - s * Tile::k);
  async_wait<stages - 2>();
  __syncthreads();

  WarpTile warp_tile;
  typename WarpTile::Fragment fragment[2];
  std::uint32_t reading = base, writing = base + (stages - 1) * stage_bytes;
  warp_tile.read(fragment[0], reading, reading + CopyA::bytes, 0);
  for (int k_left = p.k; k_left > 0; k_left -= Tile::k) {
#pragma unroll
    for (int step = 0; step < WarpTile::steps; ++step) {
      if (step + 1 < WarpTile::steps) {
        warp_tile.read(fragment[(step + 1) % 2], reading, reading + CopyA::bytes, step + 1);
      } else {
        // The next stage has arrived for this thread, and after the barrier for all; nobody reads
        // the present one any more, so that the copies after it may overwrite it.
        async_wait<stages - 2>();
        __syncthreads();
        reading = reading + stage_bytes == end ? base : reading + stage_bytes;
        warp_tile.read(fragment[0], reading, reading + CopyA::bytes, 0);
      }
      if (step == 0) {
        copy_next(writing, k_left - (stages - 1) * Tile::k);
        writing = writing + stage_bytes == end ? base : writing + stage_bytes;
      }
      warp_tile.add(fragment[step % 2]);
    }
  }
  async_wait<0>();
  __syncthreads();  // before C takes the tiles' place
  float* const staged =
      reinterpret_cast<float*>(shared + static_cast<int>(threadIdx.x) / 32 * WarpTile::Rows::bytes);
  warp_tile.store(staged, p, tile_row, tile_column, vectors);
}

}  // namespace fathom::gemm
