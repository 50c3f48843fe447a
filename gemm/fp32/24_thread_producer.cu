// Four warps fill the stages, element by element where an operand lies along k: no operand is
// copied first.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/warp_specialised_rung.h"

namespace fathom::gemm::fp32 {

Rung thread_producer() {
  Rung rung = warp_specialised_rung<&thread_producer_128x256>();
  rung.id = "fp32/24_thread_producer";
  rung.idea =
      "A warpgroup fills the stages by cp.async, four bytes at a time and transposed where an "
      "operand lies along k or starts anywhere, sixteen where its lines allow.";
  rung.gain =
      "Every layout and leading dimension without a pass over memory before; the copies take a "
      "hundredth of the instructions that the SM issues.";
  return rung;
}

}  // namespace fathom::gemm::fp32
