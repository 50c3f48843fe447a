#pragma once

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vector_load.cuh"

namespace fathom::gemm {

/// A block's whole work in the rungs that read and write by 16 bytes and have one tile of each operand
/// in shared memory: what differs between them is the Tile. `tiles_n`: of C, along its rows. For
/// products as `is_whole_and_aligned` allows.
template <class Tile>
__device__ __forceinline__ void vectorised_tile_product(const Product<float>& p, int tiles_n,
                                                        typename Tile::Shared& shared) {
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n * Tile::m;
  const int tile_column = static_cast<int>(blockIdx.x) % tiles_n * Tile::n;
  Tile tile;
  VectorLoad<Tile, Tile::m + PaddedLayout::padding, Tile::n> load(p, tile_row, tile_column);
  for (int step = 0; step < p.k; step += Tile::k) {
    load.load();
    load.store(shared.a, shared.b, &Tile::place_in_b);
    __syncthreads();
    tile.multiply(shared);
    __syncthreads();
  }
  tile.store_vectors(p, tile_row, tile_column);
}

}  // namespace fathom::gemm
