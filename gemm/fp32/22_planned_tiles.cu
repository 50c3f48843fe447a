// The tile follows the product, and where tiles are too few for all SMs, several blocks share a
// tile's k.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tiling_variants.h"
#include "gemm/fp32/tilings.h"
#include "gemm/ladder/lesson.h"

namespace fathom::gemm::fp32 {

void launch_planned(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Plan plan = make_plan(arguments.problem, workspace.sms);
  if (plan.tiling == nullptr) return launch_fallback(arguments, stream);
  plan.tiling->launch(arguments, plan.parts, reinterpret_cast<float*>(workspace.data), stream);
}

Rung planned_tiles() {
  Rung rung;
  rung.name = "22_planned_tiles";
  rung.of = Class::fp32;
  rung.idea =
      "Of five tilings and up to 64 parts of k the one whose busiest SM has the least to do; "
      "parts are added up in order by a second launch.";
  rung.gain =
      "Skinny products keep every SM busy, and a size just past a multiple of one tile takes "
      "another.";
  rung.capability = 80;
  rung.contender = true;
  rung.kernel = tiling_128x256x16().kernel;
  rung.launch = &launch_planned;
  rung.takes_own_path = [](const Problem& p) { return make_plan(p, 1).tiling != nullptr; };
  rung.variants = &tiling_variants;
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return bytes_of_parts(p, make_plan(p, sms).parts);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
