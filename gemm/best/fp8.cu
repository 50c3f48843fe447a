// fp8 with sums as good as those of 16-bit types, and at the tensor cores' full rate.

#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::fp8 {

/// e4m3 operands, C in bf16.
using Types = KernelTypes<__nv_fp8_e4m3, __nv_bfloat16, float>;

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

Rung fast_accumulation() {
  Rung rung = best_rung<AlongK, Types>(Class::fp8, "02_fast_accumulation");
  rung.idea = "Tiles of 128 x 256 x 128 whose sums stay with the tensor cores over all of k.";
  rung.gain =
      "No additions beside the products, and these twice as wide: 4096 multiplications a clock "
      "and SM, twice the rate of 16-bit types, at the price of sums with fewer bits.";
  return rung;
}

}  // namespace fathom::gemm::fp8
