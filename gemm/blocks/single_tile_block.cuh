#pragma once

#include "gemm/blocks/mbarrier.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/warp_tile.cuh"

// The beginning and the end of a block whose launch takes microseconds: of a product of 1024³
// they were half.

namespace fathom::gemm {

/// Whether the threads keep the registers that they begin with: to change them, who multiplies
/// waits for who loads. A thread's sums of more than 64 columns do not fit into those.
template <KernelConfig d>
inline constexpr bool keeps_registers = d.single_tile && !d.promoted;

/// Brings all of a product's maps into the cache that TMA reads them from.
template <class P>
__device__ inline void prefetch_maps(const P& p) {
  prefetch_map(p.map_a);
  prefetch_map(p.map_b);
  if (p.tma_stores) prefetch_map(p.map_c);
}

/// Every thread of the cluster meets here, as in cluster_sync, and sees the barriers that were made
/// before barrier_init_fence. Other memory is not ordered: a release would wait for all of this
/// thread's stores.
__device__ inline void cluster_sync_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// By the producer thread, after its last load: waits until all blocks have released every stage to
/// this one, so that it can end while they go on. Nothing else of theirs comes here: what they load
/// for this block, its consumer warps have waited for.
template <KernelConfig d>
__device__ inline void drain(const TileRing<d>& ring, RingPosition<d.stages> position) {
  for (int i = 0; i < d.stages; ++i, position.advance())
    wait(ring.empty(position.stage), position.parity ^ 1);
}

/// Pieces of 128 bytes that a tile's rows take.
template <KernelConfig d, class Out>
inline constexpr int row_pieces = d.n / staged_columns<Out>;
/// Whether a row is whole pieces, and the ring has room for all.
template <KernelConfig d, class Out>
inline constexpr bool stores_through_ring =
    d.single_tile&& d.split_k == 1 && d.n % staged_columns<Out> == 0 &&
    row_pieces<d, Out> <= d.stages;

/// Stores a warp's finished sums by TMA from where the ring had the rows of A that its
/// warpgroup alone has read, a stage for each 128 bytes of a row. After the tile's last product;
/// ends with stores under way.
template <KernelConfig d, class Out, class Scalar, int Count>
__device__ inline void store_through_ring(const TiledProduct<Out, Scalar>& p,
                                          const TileRing<d>& ring,
                                          const std::uint32_t (&sums)[Count], int block, int row,
                                          int column) {
  constexpr int columns = staged_columns<Out>;
  static_assert(stores_through_ring<d, Out> && 4 * staged_bytes == block_bytes);
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  named_barrier(2 + block, 128);  // all of the warpgroup's products are done
#pragma unroll
  for (int piece = 0; piece < row_pieces<d, Out>; ++piece) {
    const int first = piece * columns;
    const std::uint32_t buffer = ring.a(piece) + block * block_bytes + warp * staged_bytes;
    stage_chunk<Out, Scalar>(sums, first / 2, buffer);
    store_staged(p, row, column + first, buffer);
  }
}

}  // namespace fathom::gemm
