// The hardware's own product and load in place of wmma's: mma.sync, whose fragments are known lane by lane,
// and ldmatrix, which fills one register of each lane from eight rows of 16 bytes. The tiles are those
// of rung 03, with a swizzle in place of the padding: eight lanes that store two padded lines meet in one
// group of banks, which the swizzle spares (4.2 million conflicts of stores at 4096 cubed in rung 03, 0.07
// here). A warp's 16 of k take 8 ldmatrix, each of four wavefronts, for 32 products. Of fp16, where nvcc
// makes ldmatrix of wmma's loads too, the step is worth next to nothing: 316 TFLOP/s after 314 on an H200;
// bf16 goes from 218 to 314. The limit stays mma.sync's rate, 1361 of wgmma's 2048 multiplications a clock
// and SM there, and what the two stages do not hide.

#include "gemm/blocks/mma_tile.cuh"
#include "gemm/blocks/two_stage_product.cuh"
#include "gemm/half/rungs.h"
#include "gemm/half/tile.h"
#include "gemm/half/tile_rung.cuh"

namespace fathom::gemm::half {
namespace {

template <class Element, Major a, Major b>
__global__ void __launch_bounds__(Tile::threads, 1)
    mma_sync_product(HalfProduct<Element> p, int tiles_m, int tiles_n, bool vectors) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    two_stage_product<MmaTile<Element, Tile, a, b>, Tile>(p, tiles_m, tiles_n, vectors,
                                                          reinterpret_cast<std::byte*>(shared));
  }
}

struct Kernels {
  using Tile = half::Tile;
  template <class Element, Major a, Major b>
  static auto function() {
    return &mma_sync_product<Element, a, b>;
  }
  template <class Element, Major a, Major b>
  static constexpr int shared_bytes() {
    return two_stage_bytes<MmaTile<Element, Tile, a, b>, Tile>;
  }
};

}  // namespace

Rung mma_sync(Class of) {
  constexpr const char* name = "04_mma_sync";
  Rung rung = of == Class::fp16 ? tile_rung<Kernels, __half>(of, name)
                                : tile_rung<Kernels, __nv_bfloat16>(of, name);
  rung.counters = [](const Problem& p, int capability) {
    return std::vector{tensor_instructions(tile_fragments<Tile>(p), capability), matrix_loads<Tile>(p)};
  };
  rung.idea =
      "mma.sync on fragments that ldmatrix reads from swizzled tiles, in place of wmma and padded ones.";
  rung.gain =
      "Eight loads of four wavefronts each, none in conflict, for 32 products of a warp, and no "
      "shared memory for padding.";
  return rung;
}

}  // namespace fathom::gemm::half
