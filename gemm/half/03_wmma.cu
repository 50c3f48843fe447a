// The same wmma products from tiles in shared memory: 256 threads, 32 of k, lines padded by 8 elements, two
// stages (claim G6). A block of 128 x 256 loads each element once for all of its warps, 85
// multiplications for each of them where rung 02 has 8, so that the L2 and the L1 are no limit any more.
// What is left is the tensor cores' own: wmma becomes mma.sync, at most 1361 of wgmma's 2048 products a
// clock and SM on an H200 (measured by the probe `instructions`), and the two stages, one block an SM, do
// not hide the barrier and the loads of fragments. Measured there at 4096 cubed: 314 TFLOP/s of fp16, and
// 218 of bf16, whose fragments nvcc 13.0 loads word by word where it knows ldmatrix for fp16's.

#include "gemm/blocks/two_stage_product.cuh"
#include "gemm/blocks/wmma_tile.cuh"
#include "gemm/half/rungs.h"
#include "gemm/half/tile.h"
#include "gemm/half/tile_rung.cuh"

namespace fathom::gemm::half {
namespace {

template <class Element, Major a, Major b>
__global__ void __launch_bounds__(Tile::threads, 1)
    wmma_product(HalfProduct<Element> p, int tiles_m, int tiles_n, bool vectors) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    two_stage_product<WmmaTile<Element, Tile, a, b>, Tile>(p, tiles_m, tiles_n, vectors,
                                                           reinterpret_cast<std::byte*>(shared));
  }
}

struct Kernels {
  using Tile = half::Tile;
  template <class Element, Major a, Major b>
  static auto function() {
    return &wmma_product<Element, a, b>;
  }
  template <class Element, Major a, Major b>
  static constexpr int shared_bytes() {
    return two_stage_bytes<WmmaTile<Element, Tile, a, b>, Tile>;
  }
};

}  // namespace

Rung wmma(Class of) {
  constexpr const char* name = "03_wmma";
  Rung rung = of == Class::fp16 ? tile_rung<Kernels, __half>(of, name)
                                : tile_rung<Kernels, __nv_bfloat16>(of, name);
  rung.idea =
      "wmma from tiles of 128 x 256 x 32 in shared memory, lines padded by 8 elements, two "
      "stages, 256 threads.";
  rung.gain =
      "85 multiplications of each element that a block loads instead of 8: the caches are no "
      "limit any more, and fragments come from shared memory.";
  rung.claims = {"G6"};
  return rung;
}

}  // namespace fathom::gemm::half
