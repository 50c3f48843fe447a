// The copy engine fills the stages, and a warpgroup of its own tells it to: the others only read fragments
// and multiply.

#include "gemm/fp32/fed_rung.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {

Rung engine_fed() {
  Rung rung = fed_rung<&engine_fed_128x256>();
  rung.id = "fp32/23_engine_fed";
  rung.idea = "One thread has the copy engine fill four stages of 32 of k; eight warps multiply 16 x 8 elements a "
              "thread, and meet nobody but at the stages' own barriers.";
  rung.gain = "No copies, addresses or barriers of the whole block among the multiplications: 94 % of the loop's "
              "instructions multiply. The engine transposes nothing, so that operands along k are copied first.";
  return rung;
}

}  // namespace fathom::gemm::fp32
