// The copy engine fills the stages, and threads of their own tell it to: the others only read fragments
// and multiply.

#include "gemm/fp32/fed_rung.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {

Rung engine_fed() {
  Rung rung = fed_rung<&fed_128x256, Sharing::none>();
  rung.id = "fp32/23_engine_fed";
  rung.idea = "One thread has the copy engine fill four stages of 32 of k; eight warps multiply 8 x 16 elements a "
              "thread, and meet nobody but by the stages' own barriers.";
  rung.gain = "No copies, addresses or barriers of the whole block among the multiplications, and a loop of "
              "9 KB instead of 18. An operand along k is read four of k at once, as the engine's swizzle lays it.";
  return rung;
}

}  // namespace fathom::gemm::fp32
