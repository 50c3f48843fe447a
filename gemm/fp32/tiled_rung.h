#pragma once

#include "gemm/fp32/tilings.h"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp32 {

/// A rung that computes every product that has a tile by one tiling, in one part.
template <TilingChoice (*tiling)()>
Rung tiled_rung() {
  Rung rung;
  rung.of = Class::fp32;
  rung.capability = 80;  // cp.async
  rung.kernel = tiling().kernel;
  rung.takes_own_path = [](const Problem& p) {
    return fits(tiling(), p.n, p.m, p.alpha == 0 ? 0 : p.k);
  };
  rung.launch = [](const Arguments& arguments, const Workspace&, cudaStream_t stream) {
    const Problem& p = arguments.problem;
    const TilingChoice choice = tiling();
    if (!fits(choice, p.n, p.m, p.alpha == 0 ? 0 : p.k)) return launch_fallback(arguments, stream);
    choice.launch(arguments, 1, nullptr, stream);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
