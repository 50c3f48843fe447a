// Asynchronous copies into five stages of shared memory: no register holds what is on its way, and a
// copy has four steps to arrive. The first rung whose own kernel takes every transpose and every
// leading dimension.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tiled_rung.h"

namespace fathom::gemm::fp32 {

Rung async_multistage() {
  Rung rung = tiled_rung<&tiling_128x128x8>();
  rung.id = "fp32/20_async_multistage";
  rung.idea = "cp.async copies tiles of 128 x 128 x 8 straight into one of five stages of shared memory.";
  rung.gain = "No registers and no store instructions for what is fetched, and four steps of time for it to "
              "arrive; operands that are not aligned or transposed cost more copies, not another kernel.";
  return rung;
}

}  // namespace fathom::gemm::fp32
