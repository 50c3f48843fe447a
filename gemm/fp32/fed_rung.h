#pragma once

#include "gemm/fp32/fed_tiles.h"

namespace fathom::gemm::fp32 {

/// A rung that computes every product by one tile of the warp-specialised kernel.
template <FedChoice (*tile)(), Sharing sharing>
Rung fed_rung() {
  Rung rung;
  rung.of = Class::fp32;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.kernel = tile().kernel;
  rung.takes_own_path = [](const Problem& p) { return EngineOperands::copy_bytes(p, tile().majors) == 0; };
  rung.workspace_bytes = [](const Problem& p, int sms) { return tile().workspace_bytes(p, sms, sharing); };
  rung.launch = [](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
    tile().launch(arguments, workspace, sharing, stream);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
