// Few columns: a block has a tile as wide as C, and its warps share k instead of the tile.

#include "gemm/fp32/fed_tiles.h"
#include "gemm/fp32/rungs.h"
#include "gemm/fp32/sliced_launch.cuh"

namespace fathom::gemm::fp32 {
namespace {

using Tile = SlicedTile<16, 8, 8, 4, 5>;

/// Whether the kernel for few columns does the product; row-major, those are the problem's rows.
bool is_narrow(const Problem& p) {
  return p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0 && p.m <= Tile::n;
}

/// Of two tiles the one that reaches less beyond C.
FedChoice fed_choice_of(const Problem& p) {
  const FedChoice wide = fed_128x256(), high = fed_256x128();
  const auto covered = [&](const FedChoice& t) { return ceil_div(p.n, t.m) * t.m * ceil_div(p.m, t.n) * t.n; };
  return covered(high) < covered(wide) ? high : wide;
}

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (is_narrow(arguments.problem)) return launch_sliced<Tile>(arguments, workspace, stream);
  fed_choice_of(arguments.problem).launch(arguments, workspace, Sharing::equal, stream);
}

}  // namespace

Rung sliced_depth() {
  Rung rung;
  rung.id = "fp32/25_sliced_depth";
  rung.of = Class::fp32;
  rung.idea = "For up to 16 columns a block has 64 rows and the whole of k, of which each warp takes every eighth "
              "group of four; other products go to the tile of 24, or to one as high as that is wide, "
              "whichever reaches less beyond C.";
  rung.gain = "A skinny product reads its large operand once, in 128 blocks that wait for nobody, and no sums "
              "leave an SM.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  rung.kernel = fed_128x256().kernel;
  rung.launch = &launch;
  rung.takes_own_path = [](const Problem& p) {
    return EngineOperands::copy_bytes(p, is_narrow(p) ? sliced_majors : fed_choice_of(p).majors) == 0;
  };
  rung.workspace_bytes = [](const Problem& p, int sms) {
    if (is_narrow(p)) return EngineOperands::copy_bytes(p, sliced_majors);
    return fed_choice_of(p).workspace_bytes(p, sms, Sharing::equal);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
