// The tile's results wait in registers while the next tile is multiplied; for every layout and
// shape.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm {

template void launch_best_shape<AnyLayout, half::Types<__half>>(const Arguments&, const Workspace&,
                                                                cudaStream_t);
template void launch_best_shape<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                       const Workspace&,
                                                                       cudaStream_t);
template void launch_shape<ColumnHalves<AnyLayout>, half::Types<__half>>(const Arguments&,
                                                                         const Workspace&,
                                                                         cudaStream_t);
template void launch_shape<ColumnHalves<AnyLayout>, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                                const Workspace&,
                                                                                cudaStream_t);

}  // namespace fathom::gemm

namespace fathom::gemm::half {

Rung deferred_stores(Class of) {
  constexpr const char* name = "15_deferred_stores";
  Rung rung = of == Class::fp16 ? best_rung<AnyLayout, Types<__half>>(of, name)
                                : best_rung<AnyLayout, Types<__nv_bfloat16>>(of, name);
  rung.idea =
      "The results of a tile stay in registers as 16-bit elements, and go to C a piece with each "
      "stage of the next tile. Every other tile goes through k backwards, and a launch starts "
      "while the one before it ends. Skinny products are those of 12, with more than 64 columns "
      "by two blocks that have half of these each instead of half of k; small ones those of 12 or "
      "of 13, by what occupies more SMs.";
  rung.gain =
      "All blocks end their tiles together, and the L2 takes less from them at once than they "
      "have, 64 KiB each: now it has a whole tile's time, at k = 4096 a byte a clock and SM, and "
      "the tensor cores go on. What the L2 has seen last it is asked for first, so that DRAM is "
      "read less.";
  return rung;
}

}  // namespace fathom::gemm::half
