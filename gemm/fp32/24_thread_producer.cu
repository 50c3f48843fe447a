// Four warps fill the stages, element by element where an operand lies along k: no operand is copied first.

#include "gemm/fp32/fed_rung.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {

Rung thread_fed() {
  Rung rung = fed_rung<&thread_fed_128x256>();
  rung.id = "fp32/24_thread_fed";
  rung.idea = "A warpgroup fills the stages by cp.async, four bytes at a time and transposed where an operand lies "
              "along k or starts anywhere, sixteen where its lines allow.";
  rung.gain = "Every layout and leading dimension without a pass over memory before; the copies take a hundredth "
              "of the instructions that the SM issues.";
  return rung;
}

}  // namespace fathom::gemm::fp32
