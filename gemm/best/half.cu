// Results wait in registers while the next tile is multiplied; for every layout and shape.

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
      "A tile's results stay in registers as 16-bit elements, and go to C a piece with each stage "
      "of the next tile; clusters of 4 x 2 share both operands' tiles, every other tile goes "
      "through k backwards, and skinny and small products have tiles of their own.";
  rung.gain =
      "The L2 takes a tile's results over the next tile's time, at k = 4096 a byte a clock and "
      "SM, and the tensor cores go on; all at once they took longer. A block takes 16 KiB from "
      "the L2 for a stage instead of 32, and what the L2 has seen last it is asked for first.";
  return rung;
}

}  // namespace fathom::gemm::half
