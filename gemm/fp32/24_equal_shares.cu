// As many blocks as the GPU has SMs, and all have the same to do.

#include "gemm/fp32/fed_rung.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {

Rung equal_shares_of_k() {
  Rung rung = fed_rung<&fed_128x256, Sharing::equal>();
  rung.id = "fp32/24_equal_shares";
  rung.idea = "A block an SM takes tiles one after the other; of those that would be the last, partly filled "
              "waves each takes an equal share of k, and sums of a tile's parts are added in order.";
  rung.gain = "At 4096 and 8192 cubed the last wave is three quarters and half full: 3 % of the time.";
  return rung;
}

}  // namespace fathom::gemm::fp32
