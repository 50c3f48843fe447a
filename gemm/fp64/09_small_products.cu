// Small products: tiles small enough to occupy the SMs, or whose k the blocks of a cluster share.

#include "gemm/fp64/late_reads.h"
#include "gemm/fp64/rungs.h"
#include "gemm/fp64/small_choice.h"
#include "gemm/fp64/small_product.cuh"

namespace fathom::gemm::fp64 {
namespace {

using Tile32x32 = SmallTile<32, 32, 16, 16, 3, 3>;
using Tile64x32 = SmallTile<64, 32, 32, 16, 3, 2>;
using Tile64x64 = SmallTile<64, 64, 32, 32, 3, 1>;

static_assert(is_tile<Tile32x32>(small_tiles[0]) && is_tile<Tile64x32>(small_tiles[1]) &&
              is_tile<Tile64x64>(small_tiles[2]));

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const auto plan = small_choice(arguments.problem, workspace.sms);
  if (!plan) return launch_late_reads(arguments, workspace, stream);
  if (plan->tile == 0) return launch_small<Tile32x32>(arguments, plan->parts, stream);
  if (plan->tile == 1) return launch_small<Tile64x32>(arguments, plan->parts, stream);
  launch_small<Tile64x64>(arguments, plan->parts, stream);
}

}  // namespace

Rung small_products() {
  Rung rung = late_reads();
  rung.id = "fp64/09_small_products";
  rung.idea =
      "Small products are cut into tiles of 32 x 32, 64 x 32 or 64 x 64, where those are too few "
      "the blocks of a "
      "cluster share k and send their sums to each other's shared memory. Others are those of the "
      "rung before.";
  rung.gain =
      "Of a launch of few microseconds most goes to waiting for the sums that other blocks leave "
      "in global memory; "
      "small tiles occupy the SMs without any to wait for. A launch starts while the one before it "
      "ends.";
  rung.contender = true;
  rung.launch = &launch;
  rung.workspace_bytes = [before = rung.workspace_bytes](const Problem& p, int sms) {
    return small_choice(p, sms) ? std::size_t{0} : before(p, sms);
  };
  return rung;
}

}  // namespace fathom::gemm::fp64
