#pragma once

#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/fp32/fed_tile.cuh"
#include "gemm/fp32/feeders.cuh"
#include "gemm/fp32/store_tile.cuh"
#include "gemm/fp32/work_shares.h"

// The warp-specialised product: a warpgroup feeds the ring, the others multiply.

namespace fathom::gemm::fp32 {

/// Where blocks leave their sums of a tile's part that others add. A block has one such part, or where shares
/// are cut at bodies two: of the tile that its share begins in, and of the one that it ends in.
struct SharedSums {
  float* sums = nullptr;      ///< a tile for each part
  unsigned* ready = nullptr;  ///< one for each part, 0 before the launch
};

template <class Tile>
inline constexpr int parts_left = Tile::cut == Cut::stages ? 1 : 2;

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

/// The place of a thread's sum (i, j) in a part that a block leaves: neighbouring threads' are neighbours.
/// (Four at once would tie the sums to neighbouring registers, and the multiplications to those of
/// one bank.)
template <class Tile>
__device__ float* left_sum(const SharedSums& shared, int part, int i, int j) {
  return shared.sums + static_cast<std::int64_t>(part) * (Tile::m * Tile::n) +
         (i * Tile::columns + j) * Tile::multiplying + threadIdx.x;
}

/// Leaves this block's sums as such a part.
template <class Tile>
__device__ void leave_sums(const SharedSums& shared, int part, const Multiplier<Tile>& multiplier) {
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; ++j) *left_sum<Tile>(shared, part, i, j) = multiplier.sums.c[i][j];
  }
  __threadfence();
  named_barrier(1, Tile::multiplying);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(shared.ready + part) : "memory");
}

/// Waits until the part is left.
__device__ inline void wait_left(const SharedSums& shared, int part) {
  unsigned ready = 0;
  while (ready == 0)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(shared.ready + part) : "memory");
}

/// Adds what the blocks after this one have left of the tile, in order, so that the result is the
/// same every time.
template <class Tile, class P>
__device__ void add_left_sums(const P& p, const WorkPiece& piece, Multiplier<Tile>& multiplier) {
  const std::int64_t tile_end = (static_cast<std::int64_t>(piece.tile) + 1) * p.shares.depth;
  const int blocks = static_cast<int>(gridDim.x);
  for (int block = static_cast<int>(blockIdx.x) + 1; p.shares.begin(block, blocks) < tile_end; ++block) {
    if (p.shares.begin(block, blocks) == p.shares.begin(block + 1, blocks)) continue;
    wait_left(p.shared, block);
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

/// Stores sums of four neighbours of a row, as far as they are C's.
template <class P>
__device__ void store_four(const P& p, int row, int column, const float* sums) {
  if (row >= p.product.m) return;
  if (p.vectors) {
    if (column < p.product.n) store_vector(p.product, row, column, sums);
    return;
  }
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if (column + x < p.product.n) store_element(p.product, row, column + x, sums[x]);
  }
}

/// Adds and stores this block's part of a tile that others end in as well: sums in groups of four columns, of
/// which each has as many. In the order of the blocks, so that the result is the same every time.
template <class Tile, class Feeder>
__device__ void add_together(const FedProduct<Feeder>& p, int tile, const typename Tile::Threads& place) {
  const int block = static_cast<int>(blockIdx.x);
  const TileSharers sharers = sharers_of(p.shares, tile, static_cast<int>(gridDim.x));
  // Of a block's two parts this is the first if its share goes on behind the tile.
  const auto part_of = [&](int sharer) { return 2 * sharer + (sharer <= sharers.last_ending ? 1 : 0); };
  const int count = sharers.last - sharers.first + 1;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += Tile::multiplying)
    wait_left(p.shared, part_of(sharers.first + i));
  named_barrier(1, Tile::multiplying);

  constexpr int in_row = Tile::columns / 4, groups = Tile::rows * in_row;
  constexpr int at_once = 4;  // groups; of each this many loads for every sharer
  const int mine = block - sharers.first, adding = sharers.last_ending - sharers.first + 1;
  const int end = groups * (mine + 1) / adding;
  const TileIndex at = corner<Tile>(p, tile);
  for (int first = groups * mine / adding; first < end; first += at_once) {
    float sums[at_once][4] = {};
#pragma unroll 4
    for (int sharer = sharers.first; sharer <= sharers.last; ++sharer) {
#pragma unroll
      for (int g = 0; g < at_once; ++g) {
        const int group = min(first + g, groups - 1);
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[g][j] += __ldcg(left_sum<Tile>(p.shared, part_of(sharer), group / in_row, group % in_row * 4 + j));
      }
    }
#pragma unroll
    for (int g = 0; g < at_once; ++g) {
      if (first + g >= end) break;
      const int i = (first + g) / in_row, j = (first + g) % in_row * 4;
      const int r = at.m + place.row + Tile::Threads::row_of(i);
      const int c = at.n + place.column + Tile::Threads::column_of(j);
      store_four(p, r, c, sums[g]);
    }
  }
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
    if constexpr (Tile::cut == Cut::stages) {
      if (piece.first != 0) {
        leave_sums(p.shared, static_cast<int>(blockIdx.x), multiplier);
        continue;
      }
      if (piece.end != p.shares.depth) add_left_sums<Tile>(p, piece, multiplier);
    } else if (piece.first != 0 || piece.end != p.shares.depth) {
      const bool ends = walk.done();
      leave_sums(p.shared, 2 * static_cast<int>(blockIdx.x) + (ends ? 1 : 0), multiplier);
      if (ends) add_together<Tile>(p, piece.tile, multiplier.place);
      continue;
    }
    store_fed<Tile, Feeder>(p, multiplier, corner<Tile>(p, piece.tile));
  }
#endif
}

}  // namespace fathom::gemm::fp32
