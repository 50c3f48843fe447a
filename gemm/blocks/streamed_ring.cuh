#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/streamed_config.cuh"

// The ring through which a block's rows stream, and the warp that has them copied.

namespace fathom::gemm {

// Contiguous bytes moved by TMA, without a tensor map (PTX ISA, cp.async.bulk; sm_90
// and later). Addresses and sizes are multiples of 16. One thread's call of a function is the
// whole copy.

/// True in one lane of a warp that is whole here. The compiler knows that it is one, and gives
/// copies in a branch on it addresses of the whole warp; after any other condition each copy is a
/// loop over lanes.
__device__ inline bool is_elected() {
  std::uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
}

/// Lines that leave the L2 before others.
__device__ inline std::uint64_t leaving_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}

/// Copies `bytes` to shared memory, and counts them on the barrier. `Hinted`: the L2 is told how to
/// hold the lines.
template <bool Hinted>
__device__ inline void load_run(std::uint32_t target, const void* source, std::uint32_t bytes,
                                std::uint32_t barrier, std::uint64_t policy) {
  if constexpr (Hinted) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier)
        : "memory");
  }
}

/// What a block does: its rows from `first` on, and its place among the blocks that share their k.
struct StreamedShare {
  int first, rows, rank;
};
template <StreamedKernelConfig d, class P>
__device__ inline StreamedShare streamed_share(const P& p) {
  const int block = static_cast<int>(blockIdx.x),
            clusters = static_cast<int>(gridDim.x) / d.cluster;
  const int first = streamed_first_row(p.m, block / d.cluster, clusters);
  return {first, streamed_first_row(p.m, block / d.cluster + 1, clusters) - first,
          block % d.cluster};
}

/// Has the block's part of its rows copied, 16 rows a stage. By one warp.
template <StreamedKernelConfig d, class P>
__device__ inline void stream_rows(const P& p, const StreamedShare& share,
                                   const TileRing<d>& ring) {
  using In = std::remove_const_t<std::remove_pointer_t<decltype(p.a.data)>>;
  const int row_bytes = p.k * static_cast<int>(sizeof(In));
  const std::int64_t stride = p.a.row_stride * static_cast<std::int64_t>(sizeof(In));
  const auto* const first = reinterpret_cast<const std::byte*>(p.a.data) + share.first * stride;
  const std::uint64_t policy = d.evict_first ? leaving_policy() : 0;
  RingPosition<d.stages> position;
  const int passes = streamed_passes<d>(row_bytes);
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const StreamedSlab slab = streamed_slab<d>(row_bytes, pass, share.rank);
    for (int row = 0; row < share.rows; row += streamed_rows) {
      const int rows = min(streamed_rows, share.rows - row);
      for (int stage = 0; stage < slab.stages; ++stage) {
        const int begin = slab.begin + stage * d.run_bytes();
        const int run = min(d.run_bytes(), row_bytes - begin);
        wait(ring.empty(position.stage), position.parity ^ 1);
        if (is_elected()) {
          const std::uint32_t full = ring.full(position.stage);
          arrive_expect_tx(full, static_cast<std::uint32_t>(run * rows));
          std::uint32_t target = ring.a(position.stage);
          const std::byte* source = first + row * stride + begin;
#pragma unroll
          for (int i = 0; i < streamed_rows; ++i, target += d.pitch(), source += stride) {
            if (i >= rows) break;
            load_run<d.evict_first>(target, source, static_cast<std::uint32_t>(run), full, policy);
          }
        }
        __syncwarp();
        position.advance();
      }
    }
  }
}

}  // namespace fathom::gemm
