// Small products: tiles small enough to occupy the SMs, or larger ones whose k the blocks of a
// cluster share.

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/sliced_depth.h"
#include "gemm/fp32/small_choice.h"
#include "gemm/fp32/small_product.cuh"

namespace fathom::gemm::fp32 {
namespace {

using Small = Tiling<32, 64, 16, 4, 4, 2, 2, 4, 4, 4>;
using Shared = Tiling<128, 128, 16, 8, 8, 2, 4, 8, 3, 1>;

static_assert(is_tile<Small>(small_tiles[0]) && is_tile<Shared>(small_tiles[1]));

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const auto plan = small_choice(arguments.problem, workspace.sms);
  if (!plan) return launch_sliced_depth(arguments, workspace, stream);
  if (plan->tile == 0) return launch_small<Small>(arguments, plan->parts, stream);
  launch_small<Shared>(arguments, plan->parts, stream);
}

}  // namespace

Rung small_products() {
  Rung rung = sliced_depth();
  rung.id = "fp32/27_small_products";
  rung.idea =
      "Products of few tiles are cut into tiles of 32 x 64, or into those of 128 x 128 whose k the "
      "blocks of a "
      "cluster share: they send their sums to each other's shared memory. Others are those of the "
      "rung before.";
  rung.gain =
      "A launch takes microseconds, of which waiting for other blocks' sums in global memory is "
      "most: blocks of "
      "a cluster meet instead, and where tiles alone occupy the SMs nobody waits. A launch starts "
      "while the one "
      "before it ends.";
  rung.contender = true;
  rung.launch = &launch;
  rung.kernel_for = [before = rung.kernel_for](const Problem& p, int sms) {
    return small_choice(p, sms) ? RungKernel{} : before(p, sms);
  };
  rung.takes_own_path = [before = rung.takes_own_path](const Problem& p) {
    return small_choice(p, planned_sms).has_value() || before(p);
  };
  rung.workspace_bytes = [before = rung.workspace_bytes](const Problem& p, int sms) {
    return small_choice(p, sms) ? std::size_t{0} : before(p, sms);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32
