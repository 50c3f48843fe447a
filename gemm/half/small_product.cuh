#pragma once

#include "gemm/blocks/cluster_parts.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/mma_tile.cuh"
#include "gemm/blocks/multistage_product.cuh"
#include "gemm/half/tile_rung.cuh"

// Small products: small tiles, each of whose k the blocks of a cluster share.

namespace fathom::gemm::half {

/// A block's tile of M x N, which its warps share as pieces of WarpM x WarpN, in stages of 64 of k.
template <int M, int N, int WarpM, int WarpN, int Stages, int BlocksPerSm>
struct SmallTile {
  static constexpr int m = M, n = N, k = 64, stages = Stages, blocks_per_sm = BlocksPerSm;
  static constexpr int warp_m = WarpM, warp_n = WarpN, threads = M / WarpM * (N / WarpN) * 32;
  /// Eight sums between the rows: four rows of a fragment's eight neighbours lie in all banks.
  using Exchange = ExchangedSums<float, M, N, 8>;
  static constexpr int ring_bytes = Stages * (M + N) * k * 2;
  static constexpr int shared_bytes = ring_bytes + Exchange::bytes;
};

/// Blocks that follow each other are the parts of a tile's k, and a cluster.
template <class Element, class Tile, Major a, Major b>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    small_product(const __grid_constant__ HalfProduct<Element> p, int tiles_m, bool vectors) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using WarpTile = MmaTile<Element, Tile, a, b>;
  extern __shared__ __align__(128) std::byte shared[];
  const ClusterPart part;
  part.show_up();
  const int tile = static_cast<int>(blockIdx.x / static_cast<unsigned>(part.count));
  const int column = tile / tiles_m * Tile::n, row = tile % tiles_m * Tile::m;
  const int stages = (p.k + Tile::k - 1) / Tile::k;
  const int first_k = part.begin(stages, part.rank) * Tile::k;
  const int end_k = min(p.k, part.begin(stages, part.rank + 1) * Tile::k);
  typename WarpTile::CopyA copy_a(p, row);
  typename WarpTile::CopyB copy_b(p, column);
  copy_a.start_at(first_k);
  copy_b.start_at(first_k);
  WarpTile warp_tile;
  const std::uint32_t ring = shared_address(shared);
  const typename Tile::Exchange exchange(ring + Tile::ring_bytes, part);
  await_kernel_before(copy_a.source(), copy_b.source());
  multistage_sums<WarpTile, Tile>(warp_tile, copy_a, copy_b, end_k - first_k, ring);
  part.wait_for_all();
  warp_tile.each_pair([&](int r, int c, float first, float second) {
    const float sums[2] = {first, second};
    exchange.send(r, c, sums);
  });
  part.meet();
  exchange.template add_up<Tile::threads, 4>([&](int r, int c, const float(&sums)[4]) {
    r += row, c += column;
    if (r >= p.m) return;
    if (vectors && c + 4 <= p.n) return store_vector(p, r, c, sums);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (c + i < p.n) store_element(p, r, c + i, sums[i]);
    }
  });
#endif
}

/// Launches the product, whose operands' lines start on 16 bytes, in so many parts of k.
template <class Element, class Tile>
void launch_small(const Arguments& arguments, int parts, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const EngineOperands operands = EngineOperands::of(arguments);
  const HalfProduct<Element> p = product_of<Element>(arguments, operands);
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  const bool vectors =
      columns_aligned(arguments.problem.ldc, traits(arguments.problem.of).output, 8);
  for_majors(operands.a.major, operands.b.major, [&]<Major a, Major b>() {
    launch_cluster(&small_product<Element, Tile, a, b>,
                   {static_cast<int>(tiles.blocks()) * parts, Tile::threads, Tile::shared_bytes,
                    parts, stream, true},
                   p, tiles.tiles_m, vectors);
  });
}

}  // namespace fathom::gemm::half
