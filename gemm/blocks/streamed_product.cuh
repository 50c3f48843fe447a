#pragma once

#include <cstring>

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/dmma.cuh"
#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/streamed_ring.cuh"

// The kernel for products of few columns that the memory bus bounds (streamed_rows.cuh): a warp has
// TMA stream rows into a ring, the others multiply them. T is double, or float, taken as tf32.

namespace fathom::gemm::streamed {

// What a lane has of a step of k, 128 bytes of each of 16 rows of A and of each of 16 columns of B:
// two chunks of 16 bytes of rows l / 4 and l / 4 + 8, and of columns 2 (l / 4) and the next.
//
// The tensor cores want other places along k than the neighbours of a chunk. But a sum over k is
// the same in any order, as long as A and B have the same one: so a lane's chunks are taken as they
// are, and need no instruction but the load.

/// Sums of a warp: of half h of the columns the fragment of mma.sync, whose elements 2 i and 2 i +
/// 1 are row l / 4 + 8 i, columns 4 (l % 4) + h and 4 (l % 4) + 2 + h of B.
template <class T>
struct WarpSums {
  T of[2][4] = {};
};

/// A lane's two chunks of each of its rows, or of its columns.
struct LaneChunks {
  std::uint32_t of[2][2][4];
};

/// d += a b of 16 x 8 by 32 bytes of k: a lane's 4 bytes of rows l / 4 and l / 4 + 8 of the first
/// 16 bytes, then of the others (PTX ISA, the fragments of mma.m16n8k8 in tf32).
__device__ inline void multiply_lines(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                      std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Adds the products of a step in fp64, which needs both chunks: places 4 i + l % 4 of 16 along k
/// are a lane's four neighbours of both its rows, and columns.
__device__ inline void multiply_step(WarpSums<double>& sums, const LaneChunks& a,
                                     const LaneChunks& b) {
  double of_a[8], of_b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    memcpy(&of_a[2 * i], &a.of[0][i / 2][i % 2 * 2], sizeof(double));
    memcpy(&of_a[2 * i + 1], &a.of[1][i / 2][i % 2 * 2], sizeof(double));
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    memcpy(of_b, b.of[half], sizeof of_b);
    multiply_16x8x16(sums.of[half], of_a, of_b);
  }
}

/// In tf32, each chunk by itself.
__device__ inline void multiply_step(WarpSums<float>& sums, const LaneChunks& a,
                                     const LaneChunks& b) {
#pragma unroll
  for (int chunk = 0; chunk < 2; ++chunk) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t of_a[4] = {a.of[0][chunk][i], a.of[1][chunk][i], a.of[0][chunk][i + 1],
                                     a.of[1][chunk][i + 1]};
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_lines(sums.of[half], of_a, b.of[half][chunk][i], b.of[half][chunk][i + 1]);
    }
  }
}

/// A lane's chunk of B at `k`, of both its columns: B's lines start on two elements and have room
/// for pairs. A pair beyond the last is clamped to it: loads stay unconditional.
template <class T>
__device__ inline void hold_chunk(const Product<T>& p, int k, int lane, int chunk, LaneChunks& to) {
  struct alignas(2 * sizeof(T)) Neighbours {
    T of[2];
  };
  constexpr int elements = 16 / static_cast<int>(sizeof(T));
  const int column = min(column_of(lane, 0), (p.n - 1) & ~1);
  const T* const from = p.b.data + k * p.b.row_stride + column;
  T x[2][elements];
#pragma unroll
  for (int i = 0; i < elements; ++i) {
    const auto pair = *reinterpret_cast<const Neighbours*>(from + i * p.b.row_stride);
    x[0][i] = pair.of[0];
    x[1][i] = pair.of[1];
  }
  memcpy(to.of[0][chunk], x[0], 16);
  memcpy(to.of[1][chunk], x[1], 16);
}

/// What a lane holds of B: its chunks of every step of a slab, which begins at byte `begin`. Steps
/// behind the rows' end hold anything: they are not multiplied.
struct HeldOperand {
  LaneChunks of[slab_stages][steps];

  template <class T>
  __device__ void hold(const Product<T>& p, int begin) {
    constexpr int bytes = static_cast<int>(sizeof(T));
    // Read anew: what follows from it would else take registers from pass to pass.
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    const int last = p.k * bytes - step_bytes;
#pragma unroll
    for (int i = 0; i < slab_stages; ++i) {
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const int at = min(begin + i * run_bytes + step * step_bytes, last);
#pragma unroll
        for (int chunk = 0; chunk < 2; ++chunk)
          hold_chunk(p, (at + chunk_of(lane, chunk)) / bytes, lane, chunk, of[i][step]);
      }
    }
  }
};

/// 16 bytes of shared memory.
__device__ inline void load_chunk(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// Multiplies a warp's part of a stage, of which `valid` bytes of each row exist.
template <class T>
__device__ inline void multiply_part(WarpSums<T>& sums, std::uint32_t part, int valid,
                                     const LaneChunks (&b)[steps]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t row = part + lane / 4 * run_bytes + chunk_of(lane, 0);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    if (step * step_bytes >= valid) break;
    LaneChunks a;
#pragma unroll
    for (int chunk = 0; chunk < 2; ++chunk) {
      const std::uint32_t from = row + step * step_bytes + chunk * chunk_stride;
      load_chunk(a.of[0][chunk], from);
      load_chunk(a.of[1][chunk], from + 8 * run_bytes);
    }
    multiply_step(sums, a, b[step]);
  }
}

/// Adds the warps' sums of 16 rows to the block's, always in the same order. By all that multiply.
template <class T>
__device__ inline void keep_sums(const WarpSums<T>& sums, T* exchange, T* kept, bool first_pass) {
  constexpr int tile = Memory<T>::tile, each = tile / multiplying_threads;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int below = 0; below < 2; ++below) {
    T* const to = exchange + warp * tile + (lane / 4 + 8 * below) * columns + lane % 4 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = sums.of[i % 2][2 * below + i / 2];
  }
  named_barrier(1, multiplying_threads);
  static_assert(each * multiplying_threads == tile);
#pragma unroll
  for (int j = 0; j < each; ++j) {
    const int i = static_cast<int>(threadIdx.x) + j * multiplying_threads;
    T sum = first_pass ? T(0) : kept[i];
#pragma unroll
    for (int other = 0; other < warps; ++other) sum += exchange[other * tile + i];
    kept[i] = sum;
  }
  named_barrier(1, multiplying_threads);
}

template <class T, class Ring>
__device__ inline void multiply_rows(const Product<T>& p, const Share& share, const Ring& ring,
                                     std::byte* memory, int warp) {
  auto* const exchange = reinterpret_cast<T*>(memory + Memory<T>::exchange);
  auto* const kept = reinterpret_cast<T*>(memory + Memory<T>::kept);
  const int row_bytes = p.k * static_cast<int>(sizeof(T));
  RingPosition<ring_of<T>.stages> position;
#pragma unroll 1
  for (int pass = 0; pass < passes_over(row_bytes); ++pass) {
    const Slab slab = slab_of(row_bytes, pass, share.rank);
    const int begin = slab.begin + warp * warp_bytes;
    HeldOperand held;
    held.hold(p, begin);
#pragma unroll 1
    for (int row = 0; row < share.rows; row += rows_at_once) {
      WarpSums<T> sums;
#pragma unroll
      for (int i = 0; i < slab_stages; ++i) {
        if (i >= slab.stages) continue;
        wait(ring.full(position.stage), position.parity);
        multiply_part(sums, ring.a(position.stage) + warp * warp_bytes,
                      row_bytes - begin - i * run_bytes, held.of[i]);
        // For the whole warp, whose reads __syncwarp orders before it. racecheck does not follow
        // that, and calls it a race with the next copy; with an arrival of each lane it is clean.
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(ring.empty(position.stage));
        position.advance();
      }
      keep_sums(sums, exchange, kept + row * columns, pass == 0);
    }
  }
}

/// Adds what the cluster's blocks have kept; stores this block's rows, 16 bytes of sums a thread.
template <class T>
__device__ inline void store_rows(const Product<T>& p, const Share& share, std::uint32_t kept) {
  constexpr int vector = 16 / static_cast<int>(sizeof(T));
  const int vectors = share.rows * columns / vector;
  for (int v = share.rank * threads + static_cast<int>(threadIdx.x); v < vectors;
       v += cluster * threads) {
    T sums[vector] = {};
#pragma unroll
    for (int rank = 0; rank < cluster; ++rank) {
      const uint4 bits = load_of_rank(kept + v * 16, rank);
      T of[vector];
      memcpy(of, &bits, sizeof of);
#pragma unroll
      for (int i = 0; i < vector; ++i) sums[i] += of[i];
    }
    const int row = v * vector / columns, column = v * vector % columns;
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      if (column + i < p.n) store_element(p, share.first + row, column + i, sums[i]);
    }
  }
}

/// The grid is of whole clusters, of so many that none has more than `most_rows`.
template <class T>
__global__ void __launch_bounds__(threads, 1)
    streamed_product(const __grid_constant__ Product<T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(128) std::byte streamed_memory[];
  const std::uint32_t memory = shared_address(streamed_memory);
  const RowRing<T> ring{memory, memory + Memory<T>::barriers};
  if (threadIdx.x == 0) ring.init(warps);
  __syncthreads();
  const Share share = share_of_block(p);
  // The same in all lanes of a warp, and known to be: what depends on it stays out of the lanes.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp == warps) {
    stream_rows(p, share, ring);
  } else {
    multiply_rows(p, share, ring, streamed_memory, warp);
  }
  cluster_sync();
  store_rows(p, share, memory + Memory<T>::kept);
  cluster_sync();  // no block ends while another may still read its sums
#endif
}

}  // namespace fathom::gemm::streamed
