// Few columns: a block has a tile as wide as C, and its warps share k instead of the tile.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/sliced_depth.h"
#include "gemm/fp32/sliced_launch.cuh"
#include "gemm/fp32/warp_specialised_tiles.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = SlicedTile<16, 8, 8, 4, 5>;

/// Whether the kernel for few columns does the product as it lies; row-major, those are the
/// problem's rows.
bool is_narrow(const Problem& p) {
  return p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0 && p.m <= Tile::n &&
         TmaOperands::copy_bytes(p, sliced_majors) == 0;
}

}  // namespace

void launch_sliced_depth(const Arguments& arguments, const Workspace& workspace,
                         cudaStream_t stream) {
  if (is_narrow(arguments.problem)) return launch_sliced<Tile>(arguments, workspace, stream);
  launch_stream_k(arguments, workspace, stream);
}

Rung sliced_depth() {
  Rung rung;
  rung.id = "fp32/26_sliced_depth";
  rung.of = Class::fp32;
  rung.idea =
      "For up to 16 columns a block has 64 rows and the whole of k, of which each of its eight "
      "warps takes every eighth four; other products are those of the rung before.";
  rung.gain =
      "A skinny product reads its large operand once, in 128 blocks at 8192 rows that wait for "
      "nobody, and no sums leave an SM.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  rung.kernel = stream_k_kernel();
  rung.kernel_for = [](const Problem& p, int sms) {
    return is_narrow(p) ? RungKernel{} : stream_k_kernel_for(p, sms);
  };
  rung.launch = &launch_sliced_depth;
  rung.takes_own_path = [](const Problem& p) {
    return is_narrow(p) || thread_producer_128x256().takes(p);
  };
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return is_narrow(p) ? std::size_t{0} : stream_k_bytes(p, sms);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
