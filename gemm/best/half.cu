// The tile's results wait in registers while the next tile is multiplied; for every layout and
// shape.

#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::half {

Rung deferred_stores(Class of) {
  constexpr const char* name = "15_deferred_stores";
  Rung rung =
      of == Class::fp16
          ? best_rung<AnyLayout, KernelTypes<__half, __half, float>>(of, name)
          : best_rung<AnyLayout, KernelTypes<__nv_bfloat16, __nv_bfloat16, float>>(of, name);
  rung.idea =
      "The results of a tile stay in registers as 16-bit elements, and go to C a piece with each "
      "stage of the next tile. Clusters of 4 x 2 share both operands' tiles, with a second kernel "
      "of clusters of two on the SMs that they leave. Every other tile goes through k backwards, "
      "and a launch starts while the one before it ends. Either operand may lie either way. Skinny "
      "products have tiles of 16 columns, of which two blocks share k, or two blocks with half of "
      "128 columns each; small ones tiles of 128 x 128 or 128 x 256, by what occupies more SMs.";
  rung.gain =
      "All blocks end their tiles together, and the L2 takes less from them at once than they "
      "have, 64 KiB each: now it has a whole tile's time, at k = 4096 a byte a clock and SM, and "
      "the tensor cores go on. A block takes 16 KiB from the L2 for a stage instead of 32. What "
      "the L2 has seen last it is asked for first, so that DRAM is read less. No transposition "
      "costs a copy.";
  return rung;
}

}  // namespace fathom::gemm::half
