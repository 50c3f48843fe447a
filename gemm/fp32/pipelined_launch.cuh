#pragma once

#include "gemm/fp32/pipelined.cuh"
#include "gemm/fp32/tilings.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {

template <class Tile, Along a, Along b>
void launch_pipelined_as(const Product<float>& p, KParts parts, cudaStream_t stream) {
  const auto kernel = &pipelined_product<Tile, a, b>;
  if constexpr (Tile::shared_bytes > 48 * 1024) {
    FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes));
  }
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  const bool vectors = p.c.row_stride % 4 == 0 && p.n % 4 == 0;
  kernel<<<tiles.blocks() * parts.parts, Tile::threads, Tile::shared_bytes, stream>>>(
      p, tiles.tiles_m, tiles.tiles_n, vectors, parts);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile, Along a>
void launch_pipelined_with(const Product<float>& p, KParts parts, cudaStream_t stream) {
  switch (along_of(p.b.row_stride, p.b.column_stride, p.n)) {
    case Along::outer_vectors:
      return launch_pipelined_as<Tile, a, Along::outer_vectors>(p, parts, stream);
    case Along::outer: return launch_pipelined_as<Tile, a, Along::outer>(p, parts, stream);
    case Along::inner: return launch_pipelined_as<Tile, a, Along::inner>(p, parts, stream);
  }
}

/// The product, which must have a tile, on the tiling; with several parts their sums too are added up.
template <class Tile>
void launch_pipelined(const Arguments& arguments, int parts, float* sums, cudaStream_t stream) {
  const auto p = row_major<float>(arguments);
  const KParts k_parts{parts, sums};
  switch (along_of(p.a.column_stride, p.a.row_stride, p.m)) {
    case Along::outer_vectors:
      launch_pipelined_with<Tile, Along::outer_vectors>(p, k_parts, stream);
      break;
    case Along::outer: launch_pipelined_with<Tile, Along::outer>(p, k_parts, stream); break;
    case Along::inner: launch_pipelined_with<Tile, Along::inner>(p, k_parts, stream); break;
  }
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

}  // namespace fathom::gemm::fp32
