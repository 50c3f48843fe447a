// The top kernel of the 16-bit ladder on 8-bit integers, exact in 32 bits.

#include "gemm/blocks/tma_shapes.cuh"
#include "gemm/int8/rungs.h"
#include "gemm/int8/types.h"

namespace fathom::gemm::int8 {
Rung wgmma() {
  Rung rung = best_rung<AlongK, Types>(Class::int8, "01_wgmma");
  rung.idea =
      "Tiles of 128 x 256 x 128 by wgmma, clusters with multicast, persistent, stores by TMA: as "
      "for 16-bit types. wgmma takes 8-bit operands along k only; others are transposed first.";
  rung.gain = "Twice the rate of 16-bit types, from half of the bytes for an operand.";
  return rung;
}

}  // namespace fathom::gemm::int8
