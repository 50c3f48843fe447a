#pragma once

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/named_barrier.cuh"
#include "gemm/blocks/streamed_copy.cuh"
#include "gemm/blocks/streamed_fragments.cuh"

// The kernel for products of few columns that the memory bus bounds (streamed_design.cuh): a warp
// has the copy engine stream its rows into a ring, the others multiply them by what they hold.

namespace fathom::gemm {

/// What a block does: its rows from `first` on, and its place among the blocks that share their k.
struct StreamedShare {
  int first, rows, rank;
};
template <StreamedDesign d, class P>
__device__ inline StreamedShare streamed_share(const P& p) {
  const int block = static_cast<int>(blockIdx.x),
            clusters = static_cast<int>(gridDim.x) / d.cluster;
  const int first = streamed_first_row(p.m, block / d.cluster, clusters);
  return {first, streamed_first_row(p.m, block / d.cluster + 1, clusters) - first,
          block % d.cluster};
}

template <StreamedDesign d, class Sum>
struct StreamedRing {
  using Memory = StreamedMemory<d, Sum>;
  std::uint32_t base;

  __device__ std::uint32_t stage(int i) const { return base + Memory::ring + i * d.stage_bytes(); }
  /// Ends when the stage's bytes have all arrived.
  __device__ std::uint32_t full(int i) const { return base + Memory::barriers + 8 * i; }
  /// Ends when every warp has read the stage.
  __device__ std::uint32_t empty(int i) const { return full(i) + 8 * d.stages; }
  /// By one thread.
  __device__ void init() const {
    for (int i = 0; i < d.stages; ++i) {
      barrier_init(full(i), 1);
      barrier_init(empty(i), d.warps);
    }
    barrier_init_fence();
  }
};

/// Has the block's part of its rows copied, 16 rows a stage. By one warp.
template <StreamedDesign d, class P, class Ring>
__device__ inline void stream_rows(const P& p, const StreamedShare& share, const Ring& ring) {
  using In = std::remove_const_t<std::remove_pointer_t<decltype(p.a.data)>>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row_bytes = p.k * static_cast<int>(sizeof(In));
  const std::int64_t stride = p.a.row_stride * static_cast<std::int64_t>(sizeof(In));
  const auto* const first = reinterpret_cast<const std::byte*>(p.a.data) + share.first * stride;
  if constexpr (d.prefetches) {
    const StreamedSlab slab = streamed_slab<d>(row_bytes, 0, share.rank);
    const int bytes = min(row_bytes - slab.begin, d.slab_bytes());
    if (lane < share.rows && bytes > 0) prefetch_run(first + lane * stride + slab.begin, bytes);
  }
  if constexpr (d.early) asm volatile("griddepcontrol.wait;" ::: "memory");
  const std::uint64_t policy = d.evict_first ? leaving_policy() : 0;
  RingPosition<d.stages> position;
  const int passes = streamed_passes<d>(row_bytes);
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const StreamedSlab slab = streamed_slab<d>(row_bytes, pass, share.rank);
    for (int row = 0; row < share.rows; row += streamed_rows) {
      const int rows = min(streamed_rows, share.rows - row);
      // Blocks of the next launch take their places when all of this one's are at their last rows.
      if (d.early && pass + 1 == passes && row + streamed_rows >= share.rows)
        asm volatile("griddepcontrol.launch_dependents;");
      for (int stage = 0; stage < slab.stages; ++stage) {
        const int begin = slab.begin + stage * d.run_bytes();
        const int run = min(d.run_bytes(), row_bytes - begin);
        wait(ring.empty(position.stage), position.parity ^ 1);
        if (is_elected()) {
          const std::uint32_t full = ring.full(position.stage);
          arrive_expecting(full, static_cast<std::uint32_t>(run * rows));
          std::uint32_t target = ring.stage(position.stage);
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

/// 16 bytes of shared memory.
__device__ inline void load_chunk(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// What a lane holds of B: its chunks of every step of a slab.
template <StreamedDesign d>
struct HeldOperand {
  LaneColumns of[d.slab_stages][d.steps()];
};

/// Of a slab, `begin` being the first byte of this warp's part. Steps behind the
/// rows' end hold anything: they are not multiplied.
template <StreamedDesign d, Major major, class P>
__device__ inline void hold(HeldOperand<d>& held, const P& p, int begin) {
  using In = std::remove_const_t<std::remove_pointer_t<decltype(p.b.data)>>;
  constexpr int bytes = static_cast<int>(sizeof(In));
  // Read anew: what follows from it would else be kept from pass to pass, where registers are few.
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  const int last = p.k * bytes - streamed_step;
#pragma unroll
  for (int i = 0; i < d.slab_stages; ++i) {
#pragma unroll
    for (int step = 0; step < d.steps(); ++step) {
      const int at = min(begin + i * d.run_bytes() + step * streamed_step, last);
#pragma unroll
      for (int chunk = 0; chunk < 2; ++chunk) {
        hold_chunk<In, major>(p.b, (at + streamed_chunk(lane, chunk)) / bytes, p.n, lane, chunk,
                              held.of[i][step]);
      }
    }
  }
}

/// A lane's chunk of its two rows, 8 rows apart.
template <StreamedDesign d>
__device__ inline void load_rows(LaneRows& a, int chunk, std::uint32_t step) {
  load_chunk(a.of[0][chunk], step + chunk * streamed_chunk_stride);
  load_chunk(a.of[1][chunk], step + chunk * streamed_chunk_stride + 8 * d.pitch());
}

/// Multiplies a warp's part of a stage, of which `valid` bytes of each row exist.
template <class In, StreamedDesign d>
__device__ inline void multiply_part(StreamedSums<In>& sums, std::uint32_t part, int valid,
                                     const LaneColumns (&b)[d.steps()]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t row = part + lane / 4 * d.pitch() + streamed_chunk(lane, 0);
#pragma unroll
  for (int step = 0; step < d.steps(); ++step) {
    if (step * streamed_step >= valid) break;
    const std::uint32_t from = row + step * streamed_step;
    if constexpr (std::is_same_v<In, double>) {
      LaneRows a;
      load_rows<d>(a, 0, from);
      load_rows<d>(a, 1, from);
      multiply_step(sums, a, b[step]);
    } else {
#pragma unroll
      for (int chunk = 0; chunk < 2; ++chunk) {
        LaneRows a;
        load_rows<d>(a, chunk, from);
        multiply_chunk(In{}, sums, a, b[step], chunk);
      }
    }
  }
}

/// Adds the warps' sums of 16 rows to those that the block keeps, always in the same order. By all
/// that multiply.
template <StreamedDesign d, class In>
__device__ inline void keep_sums(const StreamedSums<In>& sums, StreamedSum<In>* exchange,
                                 StreamedSum<In>* kept, bool first_pass) {
  using Sum = StreamedSum<In>;
  constexpr int tile = StreamedMemory<d, Sum>::tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int below = 0; below < 2; ++below) {
    Sum* const to =
        exchange + warp * tile + (lane / 4 + 8 * below) * streamed_columns + lane % 4 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = sums.of[i % 2][2 * below + i / 2];
  }
  named_barrier(1, d.multiplying_threads());
  constexpr int each = tile / d.multiplying_threads();
  static_assert(each * d.multiplying_threads() == tile);
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const int i = static_cast<int>(threadIdx.x) + j * d.multiplying_threads();
    Sum sum = first_pass ? Sum(0) : kept[i];
#pragma unroll
    for (int other = 0; other < d.warps; ++other) sum += exchange[other * tile + i];
    kept[i] = sum;
  }
  named_barrier(1, d.multiplying_threads());
}

template <StreamedDesign d, Major major, class P, class Ring>
__device__ inline void multiply_rows(const P& p, const StreamedShare& share, const Ring& ring,
                                     std::byte* memory, int warp) {
  using In = std::remove_const_t<std::remove_pointer_t<decltype(p.a.data)>>;
  using Sum = StreamedSum<In>;
  using Memory = StreamedMemory<d, Sum>;
  auto* const exchange = reinterpret_cast<Sum*>(memory + Memory::exchange);
  auto* const kept = reinterpret_cast<Sum*>(memory + Memory::kept);
  const int row_bytes = p.k * static_cast<int>(sizeof(In));
  RingPosition<d.stages> position;
  if constexpr (d.early) asm volatile("griddepcontrol.wait;" ::: "memory");
#pragma unroll 1
  for (int pass = 0; pass < streamed_passes<d>(row_bytes); ++pass) {
    const StreamedSlab slab = streamed_slab<d>(row_bytes, pass, share.rank);
    const int begin = slab.begin + warp * d.warp_bytes;
    HeldOperand<d> held;
    hold<d, major>(held, p, begin);
#pragma unroll 1
    for (int row = 0; row < share.rows; row += streamed_rows) {
      StreamedSums<In> sums;
#pragma unroll
      for (int i = 0; i < d.slab_stages; ++i) {
        if (i >= slab.stages) continue;
        wait(ring.full(position.stage), position.parity);
        multiply_part<In, d>(sums, ring.stage(position.stage) + warp * d.warp_bytes,
                             row_bytes - begin - i * d.run_bytes(), held.of[i]);
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(ring.empty(position.stage));
        position.advance();
      }
      keep_sums<d>(sums, exchange, kept + row * streamed_columns, pass == 0);
    }
  }
}

/// Adds what the cluster's blocks have kept and stores this block's part of the rows: 16 bytes of
/// sums a thread. After the cluster has met.
template <StreamedDesign d, class Sum, class P>
__device__ inline void store_rows(const P& p, const StreamedShare& share, std::uint32_t kept) {
  constexpr int vector = 16 / static_cast<int>(sizeof(Sum));
  const int vectors = share.rows * streamed_columns / vector;
  for (int v = share.rank * d.threads() + static_cast<int>(threadIdx.x); v < vectors;
       v += d.cluster * d.threads()) {
    Sum sums[vector] = {};
#pragma unroll
    for (int rank = 0; rank < d.cluster; ++rank) {
      const uint4 bits = load_of_rank(kept + v * 16, rank);
      Sum of[vector];
      memcpy(of, &bits, sizeof of);
#pragma unroll
      for (int i = 0; i < vector; ++i) sums[i] += of[i];
    }
    const int row = v * vector / streamed_columns, column = v * vector % streamed_columns;
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      if (column + i < p.n) store_element(p, share.first + row, column + i, sums[i]);
    }
  }
}

/// `Config` has the types In, Out and Scalar, the StreamedDesign `design`, and B's Major `major`.
/// The grid is of whole clusters, of so many that none has more than the design's `most_rows`.
template <class Config>
__global__ void __launch_bounds__(Config::design.threads(), Config::design.resident())
    streamed_product(const __grid_constant__
                         Product<typename Config::In, typename Config::Out, typename Config::Scalar>
                             p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr StreamedDesign d = Config::design;
  using Sum = StreamedSum<typename Config::In>;
  extern __shared__ __align__(128) std::byte streamed_memory[];
  const StreamedRing<d, Sum> ring{shared_address(streamed_memory)};
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  const StreamedShare share = streamed_share<d>(p);
  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp == d.warps) {
    stream_rows<d>(p, share, ring);
  } else {
    multiply_rows<d, Config::major>(p, share, ring, streamed_memory, warp);
  }
  cluster_sync();
  store_rows<d, Sum>(p, share, ring.base + StreamedMemory<d, Sum>::kept);
  cluster_sync();  // no block ends while another may still read its sums
#endif
}

}  // namespace fathom::gemm
