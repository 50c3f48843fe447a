#pragma once

#include "gemm/best/fp32/producer.cuh"
#include "gemm/best/fp32/warp_specialised_tile.cuh"
#include "gemm/best/stream_k.h"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/simt.cuh"

// The warp-specialised product: a warpgroup fills the ring, the others multiply.

namespace fathom::gemm::fp32 {

/// Where blocks leave sums of a tile's part that others add: one such part a block or, where shares
/// are cut at bodies, two, of the tiles in which its share begins and ends.
struct Partials {
  float* sums = nullptr;      ///< a tile for each part
  unsigned* ready = nullptr;  ///< one for each part, 0 before the launch
};

template <class Tile>
inline constexpr int partials_per_block = Tile::cut == Cut::stages ? 1 : 2;

struct WarpSpecialisedProduct {
  CUtensorMap map_a, map_b;  ///< boxes of 32 of k by a tile's side, contiguous as the operand is
  Product<float> product;
  int tiles_m, tiles_n;
  bool vectors;  ///< C and every line of it start on 16 bytes, and n is a multiple of 4
  StreamKShares shares;
  Partials shared;
};

/// First row and column of a tile as the product's scheduler numbers them.
template <class Tile>
__device__ TileIndex corner(const WarpSpecialisedProduct& p, int tile) {
  const TileIndex index = banded_tile<8>(tile, p.tiles_m, p.tiles_n);
  return {index.m * Tile::m, index.n * Tile::n};
}

/// The place of a thread's sum (i, j) in a part: neighbouring threads' are neighbours. (Four at
/// once would tie sums to neighbouring registers, and multiplications to those of one bank.)
template <class Tile>
__device__ float* partial_sum(const Partials& shared, int part, int i, int j) {
  return shared.sums + static_cast<std::int64_t>(part) * (Tile::m * Tile::n) +
         (i * Tile::columns + j) * Tile::consumer_threads + threadIdx.x;
}

/// Leaves this block's sums as such a part.
template <class Tile>
__device__ void store_partial(const Partials& shared, int part, const Consumer<Tile>& consumer) {
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; ++j)
      *partial_sum<Tile>(shared, part, i, j) = consumer.sums.c[i][j];
  }
  __threadfence();
  named_barrier(1, Tile::consumer_threads);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(shared.ready + part) : "memory");
}

/// Waits until the part is left.
__device__ inline void wait_partial(const Partials& shared, int part) {
  unsigned ready = 0;
  while (ready == 0)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(ready)
                 : "l"(shared.ready + part)
                 : "memory");
}

/// Adds what the blocks after this one have left of the tile, always in the same order.
template <class Tile>
__device__ void fixup(const WarpSpecialisedProduct& p, const WorkPiece& piece,
                      Consumer<Tile>& consumer) {
  const auto add = [&](int block) {
    wait_partial(p.shared, block);
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::columns; ++j)
        consumer.sums.c[i][j] += __ldcg(partial_sum<Tile>(p.shared, block, i, j));
    }
  };
  p.shares.each_behind(static_cast<int>(blockIdx.x), piece.tile, static_cast<int>(gridDim.x), add);
}

/// Stores sums of four neighbours of a row, as far as they are C's.
__device__ inline void store_four(const WarpSpecialisedProduct& p, int row, int column,
                                  const float* sums) {
  if (row >= p.product.m) return;
  if (p.vectors) {
    if (column < p.product.n) store_vector(p.product, &p.product.c(row, column), sums);
    return;
  }
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if (column + x < p.product.n) store_element(p.product, row, column + x, sums[x]);
  }
}

/// Stores a thread's sums of the tile at `at`.
template <class Tile>
__device__ void store_sums(const WarpSpecialisedProduct& p, const Consumer<Tile>& consumer,
                           TileIndex at) {
  const auto within = [&](int r, int c) { return r < p.product.m && c < p.product.n; };
  store_tile<Tile>(
      consumer.sums, at.m + consumer.place.row, at.n + consumer.place.column, at.m, at.n, p.vectors,
      [&](int r, int c, const float* x) {
        if (within(r, c)) store_vector(p.product, &p.product.c(r, c), x);
      },
      [&](int r, int c, float x) {
        if (within(r, c)) store_element(p.product, r, c, x);
      });
}

/// Adds and stores this block's part of a tile that others end in as well: groups of four columns,
/// as many for each, in the order of the blocks, so that the result is always the same.
template <class Tile>
__device__ void fixup_together(const WarpSpecialisedProduct& p, int tile,
                               const typename Tile::Threads& place) {
  const int block = static_cast<int>(blockIdx.x);
  const TileSharers sharers = sharers_of(p.shares, tile, static_cast<int>(gridDim.x));
  // This is the first of a block's two parts if its share goes on behind the tile.
  const auto part_of = [&](int sharer) {
    return 2 * sharer + (sharer <= sharers.last_ending ? 1 : 0);
  };
  const int count = sharers.last - sharers.first + 1;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += Tile::consumer_threads)
    wait_partial(p.shared, part_of(sharers.first + i));
  named_barrier(1, Tile::consumer_threads);

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
          sums[g][j] += __ldcg(
              partial_sum<Tile>(p.shared, part_of(sharer), group / in_row, group % in_row * 4 + j));
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
template <class Tile>
constexpr int warp_specialised_shared_bytes() {
  constexpr int bytes = Tile::shared_bytes + Staging<Tile>::bytes;
  static_assert(bytes <= 227 * 1024);
  return bytes;
}

/// Registers of a thread: a quarter of an SM has 512 for a lane of a producer and two consumers.
inline constexpr int producer_registers = 40, consumer_registers = 232;

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1)
    warp_specialised_product(const __grid_constant__ WarpSpecialisedProduct p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(128) float shared_tiles[];
  const StageRing<Tile> ring(shared_tiles);
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  // The same in all lanes of a warp, and known to be.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  StreamKScheduler scheduler(p.shares, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
  if (warp >= Tile::consumer_threads / 32) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(producer_registers));
    produce(p, ring, scheduler, [&](int tile) { return corner<Tile>(p, tile); });
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(consumer_registers));
  if (scheduler.done()) return;
  Consumer<Tile> consumer(ring);
  consumer.start();
  while (!scheduler.done()) {
    const WorkPiece piece = scheduler.take();
    consumer.multiply(piece.end - piece.first, scheduler.done());
    if constexpr (Tile::cut == Cut::stages) {
      if (piece.first != 0) {
        store_partial(p.shared, static_cast<int>(blockIdx.x), consumer);
        continue;
      }
      if (piece.end != p.shares.depth) fixup<Tile>(p, piece, consumer);
    } else if (piece.first != 0 || piece.end != p.shares.depth) {
      const bool ends = scheduler.done();
      store_partial(p.shared, 2 * static_cast<int>(blockIdx.x) + (ends ? 1 : 0), consumer);
      if (ends) fixup_together<Tile>(p, piece.tile, consumer.place);
      continue;
    }
    store_sums<Tile>(p, consumer, corner<Tile>(p, piece.tile));
  }
#endif
}

}  // namespace fathom::gemm::fp32
