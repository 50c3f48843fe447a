#pragma once

#include "gemm/blocks/operands.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm {

/// Launches a kernel `(Product, int tiles_n)`, which sees the product row-major, with a block for each tile
/// of Tile::m x Tile::n.
template <class Tile, auto kernel, class Types = SameTypes<float>>
void launch_tiles(const Arguments& arguments, const Workspace&, cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  const auto p =
      row_major<typename Types::In, typename Types::Out, typename Types::Scalar>(arguments);
  const TileGrid tiles(p.m, p.n, Tile::m, Tile::n);
  kernel<<<tiles.blocks(), Tile::threads, 0, stream>>>(p, tiles.tiles_n);
  FATHOM_CUDA(cudaGetLastError());
}

/// What a rung reports of such a kernel.
template <class Tile, auto kernel>
RungKernel tile_kernel() {
  return {reinterpret_cast<const void*>(kernel), Tile::threads, 0, Tile::m, Tile::n, Tile::k};
}

}  // namespace fathom::gemm
