// The top kernel of the 16-bit ladder on fp32 operands, of which the tensor cores use 19 bits.

#include "gemm/blocks/tma_shapes.cuh"
#include "gemm/tf32/rungs.h"
#include "gemm/tf32/types.h"

namespace fathom::gemm::tf32 {
void launch_wgmma(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  launch_any_shape<AlongK, Types>(arguments, workspace, stream);
}

Rung wgmma() {
  Rung rung = top_rung<AlongK, Types>(Class::tf32, "01_wgmma");
  rung.idea =
      "Tiles of 128 x 256 x 32 by wgmma, clusters with multicast, persistent, stores by TMA: as "
      "for 16-bit types. wgmma takes 32-bit operands along k only; others are transposed first.";
  rung.gain =
      "Half the rate of 16-bit types is what the tensor cores have, on fp32 data as they lie in "
      "memory.";
  rung.contender = false;  // the next one is, and this its path for operands along k
  return rung;
}

}  // namespace fathom::gemm::tf32
