// The top kernel of the 16-bit ladder on 8-bit integers, exact in 32 bits.

#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::int8 {

/// Exact: sums and C in 32 bits.
using Types = KernelTypes<std::int8_t, int>;

Rung wgmma() {
  Rung rung = best_rung<AlongK, Types>(Class::int8, "01_wgmma");
  rung.idea =
      "Tiles of 128 x 256 x 128 by wgmma, clusters with multicast, persistent, stores by TMA: as "
      "for 16-bit types. wgmma takes 8-bit operands along k only; others are transposed first.";
  rung.gain = "Twice the rate of 16-bit types, from half of the bytes for an operand.";
  return rung;
}

}  // namespace fathom::gemm::int8
