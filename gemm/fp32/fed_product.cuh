#pragma once

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tma.cuh"
#include "gemm/fp32/fed_tile.cuh"
#include "gemm/fp32/work_shares.h"

// The warp-specialised product: a warp tells the copy engine what to load, the others multiply.

namespace fathom::gemm::fp32 {

/// Where blocks leave their sums of a tile's part that another block adds.
struct SharedSums {
  float* sums = nullptr;      ///< a tile for each block
  unsigned* ready = nullptr;  ///< one for each block, 0 before the launch
};

struct FedProduct {
  CUtensorMap map_a, map_b;
  Product<float> product;
  int tiles_m, tiles_n;
  bool vectors;  ///< C and every line of it start on 16 bytes, and n is a multiple of 4
  WorkShares shares;
  SharedSums shared;
};

__device__ inline WorkWalk own_work(const FedProduct& p) {
  return {p.shares, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x)};
}

/// A stage lasts more than a microsecond, and the feeding thread is stages ahead.
inline constexpr unsigned feeding_sleep = 500;

template <class Tile>
__device__ void feed(const FedProduct& p, const FedRing<Tile>& ring) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  RingPosition<Tile::stages> position;
  for (WorkWalk walk = own_work(p); !walk.done();) {
    const WorkPiece piece = walk.take();
    const TileIndex tile = banded_tile<8>(piece.tile, p.tiles_m, p.tiles_n);
    const int row = tile.m * Tile::m, column = tile.n * Tile::n;
    for (int i = piece.first; i < piece.end; ++i) {
      const std::uint32_t stage = ring.stage(position.stage), full = ring.full(position.stage);
      wait_asleep(ring.empty(position.stage), position.parity ^ 1, feeding_sleep);
      arrive_expecting(full, Tile::stage_bytes);
      if constexpr (Tile::a_major == Major::k) {
        load_box(stage, p.map_a, i * Tile::k, row, full);
      } else {
        load_box(stage, p.map_a, row, i * Tile::k, full);
      }
      load_box(stage + Tile::a_bytes, p.map_b, column, i * Tile::k, full);
      position.advance();
    }
  }
}

/// Stores a thread's sums where they are within C.
template <class Tile>
__device__ void store_sums(const FedProduct& p, const Multiplier<Tile>& multiplier, int row, int column) {
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
    const int r = row + multiplier.row(i);
    if (r >= p.product.m) continue;
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      const int c = column + multiplier.column(j);
      if (p.vectors) {
        if (c < p.product.n) store_vector(p.product, r, c, &multiplier.sums[i][j]);
        continue;
      }
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        if (c + x < p.product.n) store_element(p.product, r, c + x, multiplier.sums[i][j + x]);
      }
    }
  }
}

/// The place of a thread's four sums in a tile that a block leaves: neighbouring threads' are
/// neighbours.
template <class Tile>
__device__ float4* left_sums(const SharedSums& shared, int block, int i, int j) {
  return reinterpret_cast<float4*>(shared.sums) +
         (static_cast<std::int64_t>(block) * (Tile::rows * Tile::columns / 4) + (i * Tile::columns + j) / 4) *
             Tile::multiplying +
         threadIdx.x;
}

/// Leaves this block's sums for the one that has the tile's first stage.
template <class Tile>
__device__ void leave_sums(const SharedSums& shared, const Multiplier<Tile>& multiplier) {
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      const float* x = &multiplier.sums[i][j];
      *left_sums<Tile>(shared, static_cast<int>(blockIdx.x), i, j) = make_float4(x[0], x[1], x[2], x[3]);
    }
  }
  __threadfence();
  named_barrier(1, Tile::multiplying);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(shared.ready + blockIdx.x) : "memory");
}

/// Adds what the blocks after this one have left of the tile, in order, so that the result is the
/// same every time.
template <class Tile>
__device__ void add_left_sums(const FedProduct& p, const WorkPiece& piece, Multiplier<Tile>& multiplier) {
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
      for (int j = 0; j < Tile::columns; j += 4) {
        const float4 x = __ldcg(left_sums<Tile>(p.shared, block, i, j));
        multiplier.sums[i][j] += x.x;
        multiplier.sums[i][j + 1] += x.y;
        multiplier.sums[i][j + 2] += x.z;
        multiplier.sums[i][j + 3] += x.w;
      }
    }
  }
}

/// Registers of a thread that loads and of one that multiplies: a quarter of an SM has 512 for a
/// lane of the one and two of the other.
inline constexpr int feeding_registers = 24, multiplying_registers = 240;

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1)
    fed_product(const __grid_constant__ FedProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte shared[];
  const FedRing<Tile> ring(shared);
  if (threadIdx.x == 0) ring.init(1);
  __syncthreads();
  // The same in all lanes of a warp, and known to be.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp >= Tile::multiplying / 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(feeding_registers));
    if (threadIdx.x == Tile::multiplying) feed(p, ring);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(multiplying_registers));
  WorkWalk walk = own_work(p);
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
    if (piece.end != p.shares.depth) add_left_sums(p, piece, multiplier);
    const TileIndex tile = banded_tile<8>(piece.tile, p.tiles_m, p.tiles_n);
    store_sums(p, multiplier, tile.m * Tile::m, tile.n * Tile::n);
  }
#endif
}

}  // namespace fathom::gemm::fp32
