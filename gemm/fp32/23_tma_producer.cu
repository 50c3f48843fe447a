// TMA fills the stages, and a warpgroup of its own tells it to: the others only read fragments
// and multiply.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/warp_specialised_rung.h"

namespace fathom::gemm::fp32 {

Rung tma_producer() {
  Rung rung = warp_specialised_rung<&tma_producer_128x256>();
  rung.id = "fp32/23_tma_producer";
  rung.idea =
      "One thread has TMA fill four stages of 32 of k; eight warps multiply 16 x 8 elements a "
      "thread, and meet nobody but at the stages' own barriers.";
  rung.gain =
      "No copies, addresses or barriers of the whole block among the multiplications: 94 % of the "
      "loop's instructions multiply. TMA transposes nothing, so that operands along k are copied "
      "first.";
  return rung;
}

}  // namespace fathom::gemm::fp32
