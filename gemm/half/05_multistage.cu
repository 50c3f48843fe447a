// Asynchronous copies (cp.async) into four stages, and fragments in registers 16 of k ahead. Nothing waits any
// more for what it has just asked for: a tile has three steps of 770 clocks at mma.sync's rate on an H200
// to arrive, where DRAM answers after about 650, and no register holds it on its way; ldmatrix has 32
// products' time. What is left above is mma.sync's own limit: 1361 of wgmma's 2048 multiplications a
// clock and SM (both measured by the probe `instructions`, DRAM by `memory_latency`).
//
// Measured on an H200 at 4096 cubed, fp16: 488 TFLOP/s, 0.73 of the library, which has wgmma. What it takes
// is a loop without a word for edges: with the check of what is outside in it, 230 instructions a warp and
// tile instead of 130, it was 426. That first loop made little of 3 or 5 stages (421, 426), of 256 x
// 128 (426), of tiles of 64 of k (413), and of two blocks of 128 x 128 an SM (412).

#include "gemm/blocks/mma_tile.cuh"
#include "gemm/blocks/multistage_product.cuh"
#include "gemm/half/rungs.h"
#include "gemm/half/tile.h"
#include "gemm/half/tile_rung.cuh"

namespace fathom::gemm::half {
namespace {

/// Four: what Ampere's and Ada's smaller chips have room for in a block, 99 KiB.
struct StagedTile : Tile {
  static constexpr int stages = 4;
};

template <class Element, Major a, Major b>
__global__ void __launch_bounds__(StagedTile::threads, 1)
    multistage_product(HalfProduct<Element> p, int tiles_m, int tiles_n, bool vectors) {
  if constexpr (has_matrix_products<Element>) {
    extern __shared__ uint4 shared[];
    gemm::multistage_product<MmaTile<Element, StagedTile, a, b>, StagedTile>(
        p, tiles_m, tiles_n, vectors, reinterpret_cast<std::byte*>(shared));
  }
}

struct Kernels {
  using Tile = StagedTile;
  template <class Element, Major a, Major b>
  static auto function() {
    return &multistage_product<Element, a, b>;
  }
  template <class Element, Major a, Major b>
  static constexpr int shared_bytes() {
    return multistage_bytes<MmaTile<Element, Tile, a, b>, Tile>;
  }
};

}  // namespace

Rung multistage(Class of) {
  constexpr const char* name = "05_multistage";
  Rung rung = of == Class::fp16 ? tile_rung<Kernels, __half>(of, name)
                                : tile_rung<Kernels, __nv_bfloat16>(of, name);
  rung.capability = 80;  // cp.async
  rung.counters = [](const Problem& p, int capability) {
    // The last step reads once more what is multiplied no more.
    CounterModel loads = matrix_loads<Tile>(p);
    loads.value *= 1 + 1.0 / (2.0 * static_cast<double>(ceil_div(p.k, Tile::k)));
    loads.model += ", and one step more a tile";
    return std::vector{tensor_instructions(tile_fragments<Tile>(p), capability), loads};
  };
  rung.idea =
      "cp.async fills four stages of shared memory, three ahead, and fragments are read 16 of k "
      "ahead of their products.";
  rung.gain =
      "A tile has three steps to arrive and no register holds it on its way; no product waits for "
      "its fragments: what is left is mma.sync's own rate, two thirds of wgmma's on an H200.";
  return rung;
}

}  // namespace fathom::gemm::half
