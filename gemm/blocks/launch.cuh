#pragma once

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/vector_load.cuh"
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

/// Launches it where tiles are whole and aligned, and `slower` otherwise.
template <class Tile, auto kernel, void (*slower)(const Arguments&, cudaStream_t)>
void launch_whole_tiles(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (!is_whole_and_aligned(arguments.problem, Tile::m, Tile::n, Tile::k))
    return slower(arguments, stream);
  launch_tiles<Tile, kernel>(arguments, workspace, stream);
}

/// What a rung reports of such a kernel.
template <class Tile, auto kernel>
RungKernel tile_kernel() {
  return {reinterpret_cast<const void*>(kernel), Tile::threads, 0, Tile::m, Tile::n, Tile::k};
}

/// Has the rung compute by such a kernel what is whole and aligned tiles, and the rest by `slower`.
template <class Tile, auto kernel, void (*slower)(const Arguments&, cudaStream_t)>
void compute_whole_tiles(Rung& rung) {
  rung.kernel = tile_kernel<Tile, kernel>();
  rung.launch = &launch_whole_tiles<Tile, kernel, slower>;
  rung.takes_own_path = [](const Problem& p) {
    return is_whole_and_aligned(p, Tile::m, Tile::n, Tile::k);
  };
}

}  // namespace fathom::gemm
