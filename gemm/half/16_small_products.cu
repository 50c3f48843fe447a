// Small products: tiles small enough to occupy the SMs.

#include "gemm/half/brief_tiles.cuh"
#include "gemm/half/small_choice.h"
#include "gemm/half/small_product.cuh"

namespace fathom::gemm::half {
namespace {

using Tile32x32 = SmallTile<32, 32, 16, 16, 4, 4>;
using Tile64x32 = SmallTile<64, 32, 32, 16, 4, 3>;
using Tile64x64 = SmallTile<64, 64, 32, 32, 4, 2>;

static_assert(is_tile<Tile32x32>(small_tiles[0]) && is_tile<Tile64x32>(small_tiles[1]) &&
              is_tile<Tile64x64>(small_tiles[2]));

template <class Element>
void launch_planned(const Arguments& arguments, const SmallPlan& plan, cudaStream_t stream) {
  if (plan.tile == 0) return launch_small<Element, Tile32x32>(arguments, plan.parts, stream);
  if (plan.tile == 1) return launch_small<Element, Tile64x32>(arguments, plan.parts, stream);
  launch_small<Element, Tile64x64>(arguments, plan.parts, stream);
}

template <class Element>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const SmallChoice choice = small_choice(arguments.problem, workspace.sms);
  switch (choice.kernel) {
    case SmallChoice::Kernel::mma:
      return launch_planned<Element>(arguments, choice.plan, stream);
    case SmallChoice::Kernel::brief:
      return launch_brief<AnyLayout, Types<Element>>(choice.columns, arguments, workspace, stream);
    case SmallChoice::Kernel::waves:
      return launch_shape<Columns192<AnyLayout>, Types<Element>>(arguments, workspace, stream);
    case SmallChoice::Kernel::before:
      return launch_best_shape<AnyLayout, Types<Element>>(arguments, workspace, stream);
  }
}

/// Of what mma.sync multiplies there is no tile to tell of.
template <class Element>
RungKernel kernel_for(const Rung& before, const Problem& p, int sms) {
  const SmallChoice choice = small_choice(p, sms);
  switch (choice.kernel) {
    case SmallChoice::Kernel::mma:
      return {};
    case SmallChoice::Kernel::brief:
      return brief_kernel<AnyLayout, Types<Element>>(before.kernel.function, choice.columns);
    case SmallChoice::Kernel::waves:
      return engine_kernel<Columns192<AnyLayout>, Types<Element>>(before.kernel.function);
    case SmallChoice::Kernel::before:
      return before.kernel_for(p, sms);
  }
  return {};
}

}  // namespace

Rung small_products(Class of) {
  const Rung before = deferred_stores(of);
  Rung rung = before;
  rung.id = std::string(traits(of).name) + "/16_small_products";
  rung.idea =
      "Small products are cut into tiles of 32 x 32 to 64 x 64 by mma.sync, where those are too "
      "few the blocks of a cluster share k; larger ones into those of 128 x 64 to 128 x 192 where "
      "all of them run at once, by blocks that begin and end in few steps. Where waves of 128 x "
      "192 "
      "are fuller than those of 128 x 256 they take their place. Others are those of the rung "
      "before.";
  rung.gain =
      "Two wide tiles' sums to add, or one SM in four at work, are most of a launch of few "
      "microseconds; small tiles "
      "occupy the SMs with nothing to add. A launch starts while the one before it ends.";
  rung.contender = true;
  rung.launch = of == Class::fp16 ? &launch<__half> : &launch<__nv_bfloat16>;
  rung.kernel_for = [before](const Problem& p, int sms) {
    return before.of == Class::fp16 ? kernel_for<__half>(before, p, sms)
                                    : kernel_for<__nv_bfloat16>(before, p, sms);
  };
  return rung;
}

}  // namespace fathom::gemm::half
