#pragma once

#include "gemm/blocks/cluster_parts.cuh"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/fp32/pipelined.cuh"
#include "gemm/operand_copies.h"

// Small products: small tiles, each of whose k the blocks of a cluster share.

namespace fathom::gemm::fp32 {

/// Four sums between the rows of a tile: rows four apart, as a warp's lanes have, lie 16 banks
/// apart.
template <class Tile>
using TileExchange = ExchangedSums<float, Tile::m, Tile::n, 4>;

/// Dynamic shared memory of a block: a tile that is not shared goes to C straight from the
/// registers.
template <class Tile>
constexpr int small_shared_bytes(int parts) {
  return Tile::shared_bytes + (parts > 1 ? TileExchange<Tile>::bytes : 0);
}

/// Blocks that follow each other are the parts of a tile's k, and a cluster. m >= Tile::m, n >=
/// Tile::n, k >= 1; `vectors` as for `pipelined_product`.
template <class Tile, Along along_a, Along along_b>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    small_product(const __grid_constant__ Product<float> p, int tiles_m, bool vectors) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ float4 shared_vectors[];
  float* const shared = reinterpret_cast<float*>(shared_vectors);
  const ClusterPart part;
  part.show_up();
  const int tile = static_cast<int>(blockIdx.x / static_cast<unsigned>(part.count));
  const int first_row = tile % tiles_m * Tile::m, first_column = tile / tiles_m * Tile::n;
  const int tile_row = min(first_row, p.m - Tile::m),
            tile_column = min(first_column, p.n - Tile::n);
  const int stages = StageRange<Tile>::stages_of(p.k);
  const StageRange<Tile> range(p.k, part.begin(stages, part.rank),
                               part.begin(stages, part.rank + 1));
  const typename Tile::Threads threads;
  const auto sums = pipelined_sums<Tile, along_a, along_b>(
      p, tile_row, tile_column, range, shared, threads, [](const auto& copy_a, const auto& copy_b) {
        await_kernel_before(copy_a.source(), copy_b.source());
      });
  const auto store4 = [&](int r, int c, const float* x) { store_vector(p, r, c, x); };
  const auto store1 = [&](int r, int c, float x) { store_element(p, r, c, x); };
  if (part.count == 1) {
    store_tile<Tile>(sums, tile_row + threads.row, tile_column + threads.column, first_row,
                     first_column, vectors, store4, store1);
    return;
  }
  const TileExchange<Tile> exchange(shared_address(shared) + Tile::shared_bytes, part);
  part.wait_for_all();
#pragma unroll
  for (int i = 0; i < Tile::rows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::columns; j += 4) {
      const float of[4] = {sums.c[i][j], sums.c[i][j + 1], sums.c[i][j + 2], sums.c[i][j + 3]};
      exchange.send(threads.row + Tile::Threads::row_of(i),
                    threads.column + Tile::Threads::column_of(j), of);
    }
  }
  part.meet();
  exchange.template add_up<Tile::threads, 4>([&](int r, int c, const float(&of)[4]) {
    r += tile_row, c += tile_column;
    if (r < first_row) return;
    if (vectors) {
      if (c >= first_column) store4(r, c, of);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (c + i >= first_column) store1(r, c + i, of[i]);
    }
  });
#endif
}

/// Whether the product has a tile.
template <class Tile>
bool takes_small(const Problem& p) {
  return p.n >= Tile::m && p.m >= Tile::n;
}

/// Launches a product that has a tile in so many parts of k.
template <class Tile>
void launch_small(const Arguments& arguments, int parts, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const auto p = row_major<float>(arguments);
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  const bool vectors = p.c.row_stride % 4 == 0 && p.n % 4 == 0;
  const ClusterLaunch launch{static_cast<int>(tiles.blocks()) * parts,
                             Tile::threads,
                             small_shared_bytes<Tile>(parts),
                             parts,
                             stream,
                             true};
  const auto with_a = [&]<Along a>() {
    const auto with_b = [&]<Along b>() {
      launch_cluster(&small_product<Tile, a, b>, launch, p, tiles.tiles_m, vectors);
    };
    switch (along_of(p.b.row_stride, p.b.column_stride, p.n)) {
      case Along::outer_vectors:
        return with_b.template operator()<Along::outer_vectors>();
      case Along::outer:
        return with_b.template operator()<Along::outer>();
      case Along::inner:
        return with_b.template operator()<Along::inner>();
    }
  };
  switch (along_of(p.a.column_stride, p.a.row_stride, p.m)) {
    case Along::outer_vectors:
      return with_a.template operator()<Along::outer_vectors>();
    case Along::outer:
      return with_a.template operator()<Along::outer>();
    case Along::inner:
      return with_a.template operator()<Along::inner>();
  }
}

}  // namespace fathom::gemm::fp32
