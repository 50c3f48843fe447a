#pragma once

#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/fp32/fed_tile.cuh"
#include "gemm/fp32/feeders.cuh"
#include "gemm/fp32/store_tile.cuh"
#include "gemm/fp32/work_shares.h"

// The warp-specialised product: a warpgroup feeds the ring, the others multiply.

namespace fathom::gemm::fp32 {

/// Where blocks leave their sums of a tile's part that another block adds.
struct SharedSums {
  float* sums = nullptr;      ///< a tile for each block
  unsigned* ready = nullptr;  ///< one for each block, 0 before the launch
};

template <class Feeder>
struct FedProduct {
  typename Feeder::Sources sources;
  Product<float> product;
  int tiles_m, tiles_n;
  bool vectors;  ///< C and every line of it start on 16 bytes, and n is a multiple of 4
  WorkShares shares;
  SharedSums shared;
};

template <class P>
__device__ WorkWalk own_work(const P& p) {
  return {p.shares, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x)};
}

/// First row and column of a tile as the product's walk numbers them.
template <class Tile, class P>
__device__ TileIndex corner(const P& p, int tile) {
  const TileIndex index = banded_tile<8>(tile, p.tiles_m, p.tiles_n);
  return {index.m * Tile::m, index.n * Tile::n};
}

/// The place of a thread's sum (i, j) in a tile that a block leaves: neighbouring threads' are neighbours.
/// (Four at once would tie the sums to neighbouring registers, and the multiplications to those of
/// one bank.)
template <class Tile>
__device__ float* left_sum(const SharedSums& shared, int block, int i, int j) {
  return shared.sums + static_cast<std::int64_t>(block) * (Tile::m * Tile::n) +
         (i * Tile::columns + j) * Tile::multiplying + threadIdx.x;
}

/// Leaves this block's sums for the one that has the tile's first stage.
template <class Tile>
__device__ void leave_sums(const SharedSums& shared, const Multiplier<Tile>& multiplier) {
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; ++j)
      *left_sum<Tile>(shared, static_cast<int>(blockIdx.x), i, j) = multiplier.sums.c[i][j];
  }
  __threadfence();
  named_barrier(1, Tile::multiplying);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(shared.ready + blockIdx.x) : "memory");
}

/// Adds what the blocks after this one have left of the tile, in order, so that the result is the
/// same every time.
template <class Tile, class P>
__device__ void add_left_sums(const P& p, const WorkPiece& piece, Multiplier<Tile>& multiplier) {
  const std::int64_t tile_end = (static_cast<std::int64_t>(piece.tile) + 1) * p.shares.depth;
  const int blocks = static_cast<int>(gridDim.x);
  for (int block = static_cast<int>(blockIdx.x) + 1; p.shares.begin(block, blocks) < tile_end; ++block) {
    if (p.shares.begin(block, blocks) == p.shares.begin(block + 1, blocks)) continue;
    unsigned ready = 0;
    while (ready == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(p.shared.ready + block) : "memory");
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::columns; ++j)
        multiplier.sums.c[i][j] += __ldcg(left_sum<Tile>(p.shared, block, i, j));
    }
  }
}

/// Stores a thread's sums of the tile at `at`: where the feeder starts tiles at the edge early enough to
/// end with the matrix, only what no other tile has.
template <class Tile, class Feeder>
__device__ void store_fed(const FedProduct<Feeder>& p, const Multiplier<Tile>& multiplier, TileIndex at) {
  const TileIndex from = Feeder::template first<Tile>(p.product, at);
  const auto within = [&](int r, int c) { return r < p.product.m && c < p.product.n; };
  store_tile<Tile>(
      multiplier.sums, from.m + multiplier.place.row, from.n + multiplier.place.column, at.m, at.n, p.vectors,
      [&](int r, int c, const float* x) {
        if (within(r, c)) store_vector(p.product, r, c, x);
      },
      [&](int r, int c, float x) {
        if (within(r, c)) store_element(p.product, r, c, x);
      });
}

/// Dynamic shared memory of a block.
template <class Tile, class Feeder>
constexpr int fed_shared_bytes() {
  constexpr int bytes = Tile::shared_bytes + Feeder::template staging_bytes<Tile>;
  static_assert(bytes <= 227 * 1024);
  return bytes;
}

/// Registers of a thread that feeds and of one that multiplies: a quarter of an SM has 512 for a lane
/// of the one and two of the other.
inline constexpr int feeding_registers = 40, multiplying_registers = 232;

template <class Tile, class Feeder>
__global__ void __launch_bounds__(Tile::threads, 1)
    fed_product(const __grid_constant__ FedProduct<Feeder> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(128) float shared_tiles[];
  const FedRing<Tile> ring(shared_tiles);
  if (threadIdx.x == 0) ring.init(Feeder::arrivals);
  __syncthreads();
  // The same in all lanes of a warp, and known to be.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  WorkWalk walk = own_work(p);
  if (warp >= Tile::multiplying / 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(feeding_registers));
    Feeder::feed(p.sources, ring, p.product, walk,
                 [&](int tile) { return corner<Tile>(p, tile); });
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiplying_registers));
  if (walk.done()) return;
  Multiplier<Tile> multiplier(ring);
  multiplier.start();
  while (!walk.done()) {
    const WorkPiece piece = walk.take();
    multiplier.multiply(piece.end - piece.first, walk.done());
    if (piece.first != 0) {
      leave_sums(p.shared, multiplier);
      continue;
    }
    if (piece.end != p.shares.depth) add_left_sums<Tile>(p, piece, multiplier);
    store_fed<Tile, Feeder>(p, multiplier, corner<Tile>(p, piece.tile));
  }
#endif
}

}  // namespace fathom::gemm::fp32
