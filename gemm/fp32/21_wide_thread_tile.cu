// Twice the tile for as many threads: 8 x 16 elements a thread, one block on an SM.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tiled_rung.h"

namespace fathom::gemm::fp32 {

Rung wide_thread_tile() {
  Rung rung = tiled_rung<&tiling_128x256x8>();
  rung.id = "fp32/21_wide_thread_tile";
  rung.idea = "8 x 16 elements a thread in a tile of 128 x 256: half of an SM's registers are sums.";
  rung.gain = "24 elements from shared memory for 128 multiplications instead of 16 for 64: of the loop's "
              "instructions 92 % multiply instead of 87 %. Eight warps have to hide all latencies.";
  return rung;
}

}  // namespace fathom::gemm::fp32
