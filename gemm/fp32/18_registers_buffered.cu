// The next tile in shared memory and the next fragment in registers, with one barrier a step.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vector_load.cuh"
#include "gemm/fp32/fallback.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 8, 8, PaddedLayout, PlainLayout>;

/// `Ahead`: the next fragment is read before the present one is multiplied. Without, which is all
/// that claim GC8 is about, a fragment is read when it is multiplied.
template <bool Ahead>
__device__ __forceinline__ void product(const Product<float>& p, int tiles_n,
                                        Tile::Shared (&shared)[2]) {
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n * Tile::m;
  const int tile_column = static_cast<int>(blockIdx.x) % tiles_n * Tile::n;
  Tile tile;
  VectorLoad<Tile, Tile::m + PaddedLayout::padding, Tile::n> load(p, tile_row, tile_column);
  load.load();
  load.store(shared[0].a, shared[0].b);
  __syncthreads();
  int reading = 0;
  // Nobody reads the other tile since the last barrier; after this one all may.
  const auto store_next = [&] {
    reading ^= 1;
    load.store(shared[reading].a, shared[reading].b);
    __syncthreads();
  };
  Tile::Fragment fragment[2];
  if constexpr (Ahead) tile.read(shared[0], 0, fragment[0]);
  for (int step = 0; step < p.k; step += Tile::k) {
    const bool more = step + Tile::k < p.k;
    if (more) load.load();
    if constexpr (Ahead) {
#pragma unroll
      for (int k = 0; k < Tile::k; ++k) {
        if (k + 1 < Tile::k) {
          tile.read(shared[reading], k + 1, fragment[(k + 1) % 2]);
        } else if (more) {
          store_next();
          tile.read(shared[reading], 0, fragment[0]);
        }
        tile.add(fragment[k % 2]);
      }
    } else {
      tile.multiply(shared[reading]);
      if (more) store_next();
    }
  }
  tile.store_vectors(p, tile_row, tile_column);
}

__global__ void __launch_bounds__(Tile::threads, 2)
    registers_buffered_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared[2];
  product<true>(p, tiles_n, shared);
}

__global__ void __launch_bounds__(Tile::threads, 2)
    registers_unbuffered_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared[2];
  product<false>(p, tiles_n, shared);
}

}  // namespace

Rung registers_buffered() {
  Rung rung;
  rung.id = "fp32/18_registers_buffered";
  rung.of = Class::fp32;
  rung.idea =
      "Double buffering in shared memory and in registers: the fragment of the next k is read "
      "while the present one is multiplied.";
  rung.gain =
      "The latency of shared memory hides behind 64 multiplications too, without more resident "
      "warps.";
  rung.claims = {"G2", "GC7", "GC8"};
  compute_whole_tiles<Tile, registers_buffered_product, launch_fallback>(rung);
  return rung;
}

Rung registers_unbuffered() {
  Rung ablation;
  ablation.id = "fp32/registers_unbuffered";
  ablation.of = Class::fp32;
  ablation.idea = "A fragment is read when it is multiplied, and none ahead.";
  compute_whole_tiles<Tile, registers_unbuffered_product, launch_fallback>(ablation);
  return ablation;
}

}  // namespace fathom::gemm::fp32
