// fp8 at the tensor cores' full rate, with the bits that they keep.

#include "gemm/blocks/tma_shapes.cuh"
#include "gemm/fp8/rungs.h"
#include "gemm/fp8/types.h"

namespace fathom::gemm::fp8 {

Rung fast_accumulation() {
  Rung rung = best_rung<AlongK, Types>(Class::fp8, "02_fast_accumulation");
  rung.idea = "Tiles of 128 x 256 x 128 whose sums stay with the tensor cores over all of k.";
  rung.gain =
      "No additions beside the products, and these twice as wide: 4096 multiplications a clock "
      "and SM, twice the rate of 16-bit types, at the price of sums with fewer bits.";
  return rung;
}

}  // namespace fathom::gemm::fp8
