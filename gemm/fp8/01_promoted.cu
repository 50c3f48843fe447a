// fp8 with sums that are as good as those of 16-bit types.

#include "gemm/blocks/tma_shapes.cuh"
#include "gemm/fp8/rungs.h"
#include "gemm/fp8/types.h"

namespace fathom::gemm::fp8 {

Rung promoted() {
  Rung rung = best_rung<AlongKPromoted, Types>(Class::fp8, "01_promoted");
  rung.idea =
      "The tensor cores add up 128 of k of 128 columns at a time; the threads add these sums in "
      "fp32, one warpgroup while the other multiplies.";
  rung.gain =
      "Sums keep the bits that the tensor cores drop when they accumulate fp8 products over a "
      "long k. It costs 32768 additions a stage of 1024 clocks, a quarter of what the FMA units "
      "can do, and products of half the columns, for which the tensor cores read 96 bytes of "
      "shared memory a clock instead of 80.";
  return rung;
}

}  // namespace fathom::gemm::fp8
