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

/// Adds to a warp's sums the products of the next `k` of k that the copiers have: Tile::stages stages of shared
/// memory, from `base` on, that asynchronous copies fill, all but one ahead, and fragments that are read 16
/// of k ahead; one barrier a tile. Ends with every copy done, and nobody at the stages.
template <class WarpTile, class Tile>
__device__ __forceinline__ void multistage_sums(WarpTile& warp_tile, typename WarpTile::CopyA& copy_a,
                                                typename WarpTile::CopyB& copy_b, int k,
                                                std::uint32_t base) {
  using CopyA = typename WarpTile::CopyA;
  using CopyB = typename WarpTile::CopyB;
  constexpr int stages = Tile::stages;
  static_assert(stages >= 2 && WarpTile::steps % 2 == 0);
  constexpr std::uint32_t stage_bytes = CopyA::bytes + CopyB::bytes;
  const std::uint32_t end = base + stages * stage_bytes;
  const auto copy_next = [&]<bool whole>(std::uint32_t stage, int k_left) {
    if (whole || k_left > 0) {
      copy_a.template copy<whole>(stage, k_left);
      copy_b.template copy<whole>(stage + CopyA::bytes, k_left);
    }
    async_commit();  // an empty group where nothing is left, to count alike
  };
  const bool covered = copy_a.covers_outer() && copy_b.covers_outer();
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
    const int k_left = k - s * Tile::k;
    if (covered && k_left >= Tile::k) {
      copy_next.template operator()<true>(base + s * stage_bytes, k_left);
    } else {
      copy_next.template operator()<false>(base + s * stage_bytes, k_left);
    }
  }
  async_wait<stages - 2>();
  __syncthreads();

  typename WarpTile::Fragment fragment[2];
  std::uint32_t reading = base, writing = base + (stages - 1) * stage_bytes;
  warp_tile.read(fragment[0], reading, reading + CopyA::bytes, 0);
  const auto multiply_tile = [&]<bool whole>(int k_left) {
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
        copy_next.template operator()<whole>(writing, k_left - (stages - 1) * Tile::k);
        writing = writing + stage_bytes == end ? base : writing + stage_bytes;
      }
      warp_tile.add(fragment[step % 2]);
    }
  };
  int k_left = k;
  if (covered) {
    for (; k_left >= stages * Tile::k; k_left -= Tile::k)
      multiply_tile.template operator()<true>(k_left);
  }
  for (; k_left > 0; k_left -= Tile::k) multiply_tile.template operator()<false>(k_left);
  async_wait<0>();
  __syncthreads();
}

/// A block's whole work. `WarpTile` reads and multiplies.
template <class WarpTile, class Tile, class P>
__device__ __forceinline__ void multistage_product(const P& p, int tiles_m, int tiles_n,
                                                   bool vectors, std::byte* shared) {
  const TileIndex tile = banded_tile<8>(static_cast<int>(blockIdx.x), tiles_m, tiles_n);
  const int tile_row = tile.m * Tile::m, tile_column = tile.n * Tile::n;
  typename WarpTile::CopyA copy_a(p, tile_row);
  typename WarpTile::CopyB copy_b(p, tile_column);
  WarpTile warp_tile;
  multistage_sums<WarpTile, Tile>(warp_tile, copy_a, copy_b, p.k, shared_address(shared));
  // C takes the tiles' place.
  float* const staged =
      reinterpret_cast<float*>(shared + static_cast<int>(threadIdx.x) / 32 * WarpTile::Rows::bytes);
  warp_tile.store(staged, p, tile_row, tile_column, vectors);
}

}  // namespace fathom::gemm
