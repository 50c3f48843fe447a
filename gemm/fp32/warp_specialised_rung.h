#pragma once

#include "gemm/fp32/warp_specialised_tiles.h"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp32 {

/// A rung that computes every product that it takes by one tile of the warp-specialised kernel,
/// a block a tile.
template <WarpSpecialisedChoice (*tile)()>
Rung warp_specialised_rung() {
  Rung rung;
  rung.of = Class::fp32;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.kernel = tile().kernel(make_problem(Class::fp32, 4096, 4096, 4096), 1, Sharing::none);
  rung.takes_own_path = [](const Problem& p) {
    return tile().takes(p) && tile().copy_bytes(p) == 0;
  };
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return tile().workspace_bytes(p, sms, Sharing::none);
  };
  rung.launch = [](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
    if (!tile().takes(arguments.problem)) return launch_fallback(arguments, stream);
    tile().launch(arguments, workspace, Sharing::none, stream);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
