// No tensor core: fp32's tile of 128 x 128, 8 x 8 elements a thread, from elements of 16 bits. They
// become fp32 on their way into shared memory, once for each tile, so that the loop over k is that
// of fp32, and so is its bound: one multiplication a lane and clock. Half of the bytes cross the
// memory bus and the L2, which no rung of this shape waits for. Every index is checked: the kernel
// that later rungs give products to which theirs cannot do.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/by_thread_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/half/fallback.h"
#include "gemm/half/rungs.h"
#include "gemm/half/types.h"

namespace fathom::gemm::half {
namespace {

/// 16 of k, where fp32 has 8: a line of A is a whole sector again.
template <class Element>
using Tile = BlockTile<128, 128, 16, 8, 8, PaddedLayout, ByThreadLayout, Types<Element>>;

template <class Element>
__global__ void __launch_bounds__(Tile<Element>::threads, 2)
    simt_product(typename Tile<Element>::P p, int tiles_n) {
  __shared__ typename Tile<Element>::Shared shared;
  block_tile_product<Tile<Element>>(p, shared, tiles_n);
}

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  launch_tiles<Tile<Element>, simt_product<Element>, Types<Element>>(arguments, workspace, stream);
}

template <class Element>
Rung rung_of(Class of) {
  Rung rung;
  rung.id = std::string(traits(of).name) + "/01_simt";
  rung.of = of;
  rung.idea =
      "fp32's tile of 128 x 128, filled with 16-bit elements that become fp32 as they enter "
      "shared memory: no tensor core.";
  rung.gain =
      "Nothing but half of the bytes against fp32: each multiplication is an FFMA all the same, "
      "and the peak is fp32's.";
  rung.kernel = tile_kernel<Tile<Element>, simt_product<Element>>();
  rung.launch = &launch<Element>;
  rung.counters = [](const Problem& p, int) {
    using T = Tile<Element>;
    const auto blocks = static_cast<double>(
        TileGrid(static_cast<int>(p.n), static_cast<int>(p.m), T::m, T::n).blocks());
    double fma = blocks * T::m * T::n * T::k * static_cast<double>(ceil_div(p.k, T::k));
    if (p.beta != 0) fma += static_cast<double>(p.m) * static_cast<double>(p.n);
    return std::vector<CounterModel>{
        {"fma_instructions", fma, "multiplications of whole tiles, and C's by beta"}};
  };
  return rung;
}

}  // namespace

void launch_fallback(const Arguments& arguments, cudaStream_t stream) {
  if (arguments.problem.of == Class::fp16) return launch<__half>(arguments, {}, stream);
  launch<__nv_bfloat16>(arguments, {}, stream);
}

Rung simt(Class of) { return of == Class::fp16 ? rung_of<__half>(of) : rung_of<__nv_bfloat16>(of); }

}  // namespace fathom::gemm::half
