// The best of the rungs before, for every layout and shape.

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm {

template void launch_any_shape<AnyLayout, half::Types<__half>>(const Arguments&, const Workspace&,
                                                               cudaStream_t);
template void launch_any_shape<AnyLayout, half::Types<__nv_bfloat16>>(const Arguments&,
                                                                      const Workspace&,
                                                                      cudaStream_t);

}  // namespace fathom::gemm

namespace fathom::gemm::half {

Rung all_layouts(Class of) {
  constexpr const char* name = "13_all_layouts";
  Rung rung = of == Class::fp16 ? top_rung<AnyLayout, Types<__half>>(of, name)
                                : top_rung<AnyLayout, Types<__nv_bfloat16>>(of, name);
  rung.contender = false;  // 15 is
  rung.idea =
      "The tiles of 11 with either operand contiguous along k or along its other dimension, as "
      "wgmma reads both, and for skinny products those of 12.";
  rung.gain =
      "No transposition costs a copy any more: one of 4096 x 4096 elements reads and writes 67 "
      "MB, which is 14 us of an H200's memory bus beside the 128 us that the tensor cores need "
      "for the product. At the ladder's own layout it is the kernel of 11.";
  return rung;
}

}  // namespace fathom::gemm::half
