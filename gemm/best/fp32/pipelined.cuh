#pragma once

#include <type_traits>

#include "gemm/best/fp32/tilings.h"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/thread_tile.cuh"
#include "gemm/blocks/tile_copy.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {

// A pipeline of asynchronous copies into several stages of shared memory, fragments one step ahead
// in registers, one barrier a tile.

/// A block's tile and how its threads share it.
template <int BM, int BN, int BK, int TM, int TN, int WarpsM, int WarpsN, int LanesM, int Stages,
          int BlocksPerSm>
struct Tiling {
  static constexpr int m = BM, n = BN, k = BK, stages = Stages, blocks_per_sm = BlocksPerSm;
  static constexpr int rows = TM, columns = TN;
  using Threads = ThreadTile<BM, BN, TM, TN, WarpsM, WarpsN, LanesM>;
  static constexpr int threads = Threads::threads;
  static constexpr int stage_floats = BK * (BM + 4 + BN + 4);
  static constexpr int shared_bytes = Stages * stage_floats * static_cast<int>(sizeof(float));
  static_assert(BK % 2 == 0 && Stages >= 2);
};

/// Which part of k a block computes, in tiles; with one part there is nothing to add up.
struct KParts {
  int parts = 1;
  float* sums = nullptr;  ///< parts x m x n, row-major without gaps
};

/// Stages of a product's k, all whole but for the first, which takes what is left over.
template <class Tile>
struct StageRange {
  int begin, end;
  int first_depth;  ///< of k, in the product's first stage
  static __device__ int stages_of(int k) { return (k + Tile::k - 1) / Tile::k; }
  __device__ StageRange(int k, int from, int to)
      : begin(from), end(to), first_depth(k - (stages_of(k) - 1) * Tile::k) {}
  __device__ int first_k() const { return begin == 0 ? 0 : first_depth + (begin - 1) * Tile::k; }
};

/// A thread's sums of the tile whose first row and column are `tile_row` and `tile_column`, over a
/// range of k.
template <class Tile, Along along_a, Along along_b>
__device__ __forceinline__ typename Tile::Threads::Sums pipelined_sums(
    const Product<float>& p, int tile_row, int tile_column, const StageRange<Tile>& range,
    float* shared, const typename Tile::Threads& threads) {
  using CopyA = TileCopy<Tile::m, Tile::k, Tile::threads, along_a>;
  using CopyB = TileCopy<Tile::n, Tile::k, Tile::threads, along_b>;
  using Threads = typename Tile::Threads;
  const int begin = range.begin, end = range.end, first_k = range.first_k();

  CopyA copy_a(&p.a(tile_row, first_k),
               along_a == Along::inner ? p.a.row_stride : p.a.column_stride);
  CopyB copy_b(&p.b(first_k, tile_column),
               along_b == Along::inner ? p.b.column_stride : p.b.row_stride);
  const std::uint32_t base = shared_address(shared);
  constexpr std::uint32_t stage_bytes = Tile::stage_floats * sizeof(float);
  constexpr std::uint32_t b_bytes = CopyA::elements * sizeof(float);

  // Fill all stages but one.
#pragma unroll
  for (int s = 0; s < Tile::stages - 1; ++s) {
    const std::uint32_t stage = base + s * stage_bytes;
    if (begin + s < end) {
      if (s == 0 && begin == 0) {
        copy_a.copy_first(stage, range.first_depth, &p.a(tile_row, 0));
        copy_b.copy_first(stage + b_bytes, range.first_depth, &p.b(0, tile_column));
      } else {
        copy_a.copy_next(stage);
        copy_b.copy_next(stage + b_bytes);
      }
    }
    async_commit();
  }
  async_wait<Tile::stages - 2>();
  __syncthreads();

  typename Threads::Sums sums;
  typename Threads::Fragment fragment[2];
  const float* line_a = shared + threads.row;
  const float* line_b = shared + CopyA::elements + threads.column;
  fragment[0].load(line_a, line_b);
  int reading = 0;                                           // the stage that is being read
  std::uint32_t writing = (Tile::stages - 1) * stage_bytes;  // offset of the stage that is free

  for (int step = begin; step < end; ++step) {
#pragma unroll
    for (int k = 0; k < Tile::k; ++k) {
      if (k + 1 < Tile::k) {
        fragment[(k + 1) % 2].load(line_a + (k + 1) * CopyA::pitch,
                                   line_b + (k + 1) * CopyB::pitch);
      } else {
        // The next stage has arrived for this thread, and after the barrier for all; nobody reads
        // the present one any more, so that the copies after it may overwrite it.
        async_wait<Tile::stages - 2>();
        __syncthreads();
        reading = reading + 1 == Tile::stages ? 0 : reading + 1;
        line_a = shared + reading * Tile::stage_floats + threads.row;
        line_b = line_a - threads.row + CopyA::elements + threads.column;
        fragment[0].load(line_a, line_b);
      }
      if (k == 0) {
        if (step + Tile::stages - 1 < end) {
          copy_a.copy_next(base + writing);
          copy_b.copy_next(base + writing + b_bytes);
        }
        async_commit();
        writing = writing + stage_bytes == Tile::stages * stage_bytes ? 0 : writing + stage_bytes;
      }
      sums.add(fragment[k % 2]);
    }
  }
  async_wait<0>();
  return sums;
}

/// C row-major; m >= Tile::m, n >= Tile::n, k >= 1. `vectors`: C and every line of it start on 16
/// bytes, and n is a multiple of 4.
template <class Tile, Along along_a, Along along_b>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    pipelined_product(Product<float> p, int tiles_m, int tiles_n, bool vectors, KParts parts) {
  extern __shared__ float4 shared_vectors[];

  // The tile; one at the edge starts early enough to end with the matrix.
  const int block = static_cast<int>(blockIdx.x) / parts.parts;
  const int part = static_cast<int>(blockIdx.x) % parts.parts;
  const TileIndex tile = banded_tile<8>(block, tiles_m, tiles_n);
  const int first_row = tile.m * Tile::m, first_column = tile.n * Tile::n;
  const int tile_row = min(first_row, p.m - Tile::m),
            tile_column = min(first_column, p.n - Tile::n);
  const typename Tile::Threads threads;
  const long long stages = StageRange<Tile>::stages_of(p.k);
  const StageRange<Tile> range(p.k, static_cast<int>(stages * part / parts.parts),
                               static_cast<int>(stages * (part + 1) / parts.parts));
  const auto sums = pipelined_sums<Tile, along_a, along_b>(
      p, tile_row, tile_column, range, reinterpret_cast<float*>(shared_vectors), threads);

  const int row = tile_row + threads.row, column = tile_column + threads.column;
  if (parts.parts > 1) {
    float* const to = parts.sums + static_cast<std::int64_t>(part) * p.m * p.n;
    const bool whole = p.n % 4 == 0;
    store_tile<Tile>(
        sums, row, column, first_row, first_column, whole,
        [&](int r, int c, const float* x) {
          *reinterpret_cast<float4*>(to + static_cast<std::int64_t>(r) * p.n + c) =
              make_float4(x[0], x[1], x[2], x[3]);
        },
        [&](int r, int c, float x) { to[static_cast<std::int64_t>(r) * p.n + c] = x; });
    return;
  }
  store_tile<Tile>(
      sums, row, column, first_row, first_column, vectors,
      [&](int r, int c, const float* x) { store_vector(p, r, c, x); },
      [&](int r, int c, float x) { store_element(p, r, c, x); });
}

template <class Tile, Along a, Along b>
void launch_pipelined_as(const Product<float>& p, KParts parts, cudaStream_t stream) {
  const auto kernel = &pipelined_product<Tile, a, b>;
  if constexpr (Tile::shared_bytes > 48 * 1024) {
    FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Tile::shared_bytes));
  }
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  const bool vectors = p.c.row_stride % 4 == 0 && p.n % 4 == 0;
  kernel<<<tiles.blocks() * parts.parts, Tile::threads, Tile::shared_bytes, stream>>>(
      p, tiles.tiles_m, tiles.tiles_n, vectors, parts);
  FATHOM_CUDA(cudaGetLastError());
}

/// Calls `use` with the way in which an operand lies as a type.
template <class Use>
void with_along(Along along, const Use& use) {
  switch (along) {
    case Along::outer_vectors:
      return use(std::integral_constant<Along, Along::outer_vectors>{});
    case Along::outer:
      return use(std::integral_constant<Along, Along::outer>{});
    case Along::inner:
      return use(std::integral_constant<Along, Along::inner>{});
  }
}

/// The product, which must have a tile, on the tiling; with several parts their sums too are added
/// up.
template <class Tile>
void launch_pipelined(const Arguments& arguments, int parts, float* sums, cudaStream_t stream) {
  const auto p = row_major<float>(arguments);
  const KParts k_parts{parts, sums};
  with_along(along_of(p.a.column_stride, p.a.row_stride, p.m), [&](auto a) {
    with_along(along_of(p.b.row_stride, p.b.column_stride, p.n), [&](auto b) {
      launch_pipelined_as<Tile, decltype(a)::value, decltype(b)::value>(p, k_parts, stream);
    });
  });
  if (parts > 1) launch_add_parts(arguments, parts, sums, stream);
}

template <class Tile>
TilingChoice tiling_choice(const char* name, double efficiency) {
  const void* const kernel =
      reinterpret_cast<const void*>(&pipelined_product<Tile, Along::inner, Along::outer_vectors>);
  return {name,
          Tile::m,
          Tile::n,
          Tile::k,
          Tile::blocks_per_sm,
          efficiency,
          &launch_pipelined<Tile>,
          {kernel, Tile::threads, Tile::shared_bytes, Tile::m, Tile::n, Tile::k}};
}

// Two are compiled in a file of their own, since one file of all takes a minute.
TilingChoice tiling_128x256x16();
TilingChoice tiling_128x256x8();

}  // namespace fathom::gemm::fp32
