#pragma once

#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The sum of what the blocks of a cluster have computed of one tile, each of its part of k, by way
// of each other's shared memory: always in the same order, and without a workspace.

namespace fathom::gemm {

/// From a kept row to the next, in sums: 8 modulo 32 banks keeps a half-warp's rows apart.
template <int N>
inline constexpr int partial_pitch = (N + 31) / 32 * 32 + 8;

/// Keeps a warp's sums in a tile of 32-bit sums at `tile`; zeros if it has none. A thread has two
/// of the tile's rows, `row_of(0)` and `row_of(1)`.
template <int N, int Count, class RowOf>
__device__ inline void keep_partial(std::uint32_t tile, const std::uint32_t (&sums)[Count],
                                    const RowOf& row_of, bool any = true) {
  static_assert(Count == N / 2);
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const int r = row_of(i % 4 / 2), c = i / 4 * 8 + lane % 4 * 2;
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(tile + (r * partial_pitch<N> + c) * 4),
                 "r"(any ? sums[i] : 0u), "r"(any ? sums[i + 1] : 0u)
                 : "memory");
  }
}

__device__ inline uint4 load_of_rank(std::uint32_t address, int rank) {
  uint4 x;
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %4, %5;\n"
      "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote];\n}"
      : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
      : "r"(address), "r"(rank)
      : "memory");
  return x;
}

/// Between its two halves a thread may do what no other block waits for. What it has read before
/// the first, it has read before any block is past the second.
__device__ inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/// Adds the cluster's partial tiles and stores this block's rows. By all multiplying threads, after
/// the cluster has met. A single-tile kernel's arrive at its barrier here, and wait for no store.
template <KernelConfig d, class Out, class Scalar>
__device__ inline void store_cluster_sum(const TiledProduct<Out, Scalar>& p, std::uint32_t tile,
                                         const ClusterPlace<d>& place, TileIndex corner) {
  constexpr int share = d.m() / d.split_k, vectors = d.n / 4;
  static_assert(share * d.split_k == d.m() && d.split_k == d.cluster());
  static_assert(d.m() * partial_pitch<d.n> * 4 <= TileRing<d>::bytes);
  // Else a thread would read again after it has begun to part.
  static_assert(!d.single_tile || share * vectors <= d.consumers * 128);
  const bool along_rows = p.c.column_stride == 1;  // C's neighbours in memory are a thread's four
  bool arrived = false;
  for (int v = static_cast<int>(threadIdx.x); v < share * vectors; v += d.consumers * 128) {
    const int row = place.k * share + (along_rows ? v / vectors : v % share);
    const int column = (along_rows ? v % vectors : v / share) * 4;
    const int r = corner.m + row, c = corner.n + column;
    if (r >= p.m || c >= p.n) continue;
    Scalar of[4] = {};
#pragma unroll
    for (int other = 0; other < d.split_k; ++other) {
      const uint4 x = load_of_rank(tile + (row * partial_pitch<d.n> + column) * 4, other);
      of[0] += sum_of<Scalar>(x.x);
      of[1] += sum_of<Scalar>(x.y);
      of[2] += sum_of<Scalar>(x.z);
      of[3] += sum_of<Scalar>(x.w);
    }
    if constexpr (d.single_tile) {
      cluster_arrive();  // before any store of C, for which its release would wait
      arrived = true;
    }
    if constexpr (sizeof(Out) == 2) {
      if (along_rows && p.tma_stores && c + 3 < p.n) {
        *reinterpret_cast<uint2*>(&p.c(r, c)) =
            make_uint2(packed<Out>(finished(p, r, c, of[0]), finished(p, r, c + 1, of[1])),
                       packed<Out>(finished(p, r, c + 2, of[2]), finished(p, r, c + 3, of[3])));
        continue;
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (c + i < p.n) p.c(r, c + i) = Out(finished(p, r, c + i, of[i]));
    }
  }
  if constexpr (d.single_tile) {
    if (!arrived) cluster_arrive();
  }
}

}  // namespace fathom::gemm
