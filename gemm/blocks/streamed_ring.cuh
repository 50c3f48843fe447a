#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/streamed_rows.cuh"

// The ring through which a block's rows stream, and the warp that has them copied.

namespace fathom::gemm::streamed {

/// What TileRing needs to know: a stage holds A's rows alone.
struct RingConfig {
  int stages;
  __host__ __device__ constexpr int stage_bytes() const { return rows_at_once * run_bytes; }
  __host__ __device__ constexpr int a_bytes() const { return stage_bytes(); }
};
template <class T>
inline constexpr RingConfig ring_of{std::is_same_v<T, double> ? 4 : 5};
template <class T>
using RowRing = TileRing<ring_of<T>>;

/// Where things lie in a block's shared memory, in bytes; it starts on 128.
template <class T>
struct Memory {
  static constexpr int tile = rows_at_once * columns;  ///< sums
  static constexpr int exchange = RowRing<T>::bytes;   ///< behind the ring
  static constexpr int kept = exchange + warps * tile * int{sizeof(T)};
  static constexpr int barriers = kept + most_rows * columns * int{sizeof(T)};
  static constexpr int bytes = barriers + RowRing<T>::barrier_bytes;
  // An SM has 228 KiB, of which a block takes one for itself.
  static_assert(bytes + 1024 <= 228 * 1024 && most_rows % rows_at_once == 0);
};

/// True in one lane of a whole warp. The compiler knows that it is one, and gives copies in a
/// branch on it addresses of the warp; after any other condition a copy is a loop over lanes.
__device__ inline bool is_elected() {
  std::uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
}

/// Copies `bytes` to shared memory, and counts them on the barrier: by TMA without a tensor map
/// (PTX ISA, cp.async.bulk), addresses and sizes being multiples of 16.
__device__ inline void load_run(std::uint32_t target, const void* source, std::uint32_t bytes,
                                std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];" ::"r"(target),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}

/// What a block does: its rows from `first` on, and its place among the blocks that share their k.
struct Share {
  int first, rows, rank;
};
template <class P>
__device__ inline Share share_of_block(const P& p) {
  const int block = static_cast<int>(blockIdx.x), clusters = static_cast<int>(gridDim.x) / cluster;
  const int first = first_row(p.m, block / cluster, clusters);
  return {first, first_row(p.m, block / cluster + 1, clusters) - first, block % cluster};
}

/// Has the block's part of its rows copied, 16 rows a stage. By one warp.
template <class T, class Ring>
__device__ inline void stream_rows(const Product<T>& p, const Share& share, const Ring& ring) {
  const int row_bytes = p.k * static_cast<int>(sizeof(T));
  const std::int64_t stride = p.a.row_stride * static_cast<std::int64_t>(sizeof(T));
  const auto* const first = reinterpret_cast<const std::byte*>(p.a.data) + share.first * stride;
  RingPosition<ring_of<T>.stages> position;
  const int passes = passes_over(row_bytes);
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const Slab slab = slab_of(row_bytes, pass, share.rank);
    for (int row = 0; row < share.rows; row += rows_at_once) {
      const int rows = min(rows_at_once, share.rows - row);
      for (int stage = 0; stage < slab.stages; ++stage) {
        const int begin = slab.begin + stage * run_bytes;
        const int run = min(run_bytes, row_bytes - begin);
        wait(ring.empty(position.stage), position.parity ^ 1);
        if (is_elected()) {
          const std::uint32_t full = ring.full(position.stage);
          arrive_expect_tx(full, static_cast<std::uint32_t>(run * rows));
          std::uint32_t target = ring.a(position.stage);
          const std::byte* source = first + row * stride + begin;
#pragma unroll
          for (int i = 0; i < rows_at_once; ++i, target += run_bytes, source += stride) {
            if (i >= rows) break;
            load_run(target, source, static_cast<std::uint32_t>(run), full);
          }
        }
        __syncwarp();
        position.advance();
      }
    }
  }
}

}  // namespace fathom::gemm::streamed
