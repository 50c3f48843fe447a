// Tiles that leave no SM without work.

#include <utility>

#include "gemm/contenders.h"
#include "gemm/fp32_3xtf32/split_plan.h"
#include "gemm/fp32_3xtf32/split_rung.cuh"

namespace fathom::gemm::fp32_3xtf32 {
namespace {

struct AnyFirst {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
};
struct Wide : AnyFirst {
  static constexpr RegisterKernelConfig config{.columns = 128,
                                               .stages = 4,
                                               .cluster_m = 2,
                                               .band = 8,
                                               .persistent = true,
                                               .serpentine = true,
                                               .three_products = true};
};
struct Narrow : AnyFirst {
  static constexpr RegisterKernelConfig config{.columns = 64,
                                               .stages = 6,
                                               .cluster_m = 2,
                                               .band = 8,
                                               .persistent = true,
                                               .serpentine = true,
                                               .three_products = true};
};
/// The blocks of a cluster share the k of a tile.
template <int Columns, int Stages>
struct Shared : AnyFirst {
  static constexpr RegisterKernelConfig config{.columns = Columns,
                                               .stages = Stages,
                                               .split_k = 2,
                                               .band = 1,
                                               .narrow_b = Columns < 32,
                                               .three_products = true};
};

/// Calls `use` with the shape of a tile of `split_tiles`.
template <class Use>
auto with_shape(int tile, Use&& use) {
  switch (tile) {
    case 1:
      return use(Narrow{});
    case 2:
      return use(Shared<128, 4>{});
    case 3:
      return use(Shared<64, 6>{});
    case 4:
      return use(Shared<16, 11>{});
    default:
      return use(Wide{});
  }
}

int tile_of(const Problem& p, int sms) {
  const SplitChoice choice = choose_operands({p});
  return best_tile(choice.first.outer, choice.second.outer, p.k, sms);
}

/// The tile's rows are the first operand's: where that is BLAS's A, those of C, which the rung's
/// own view has as columns.
RungKernel kernel_for(const Problem& p, int sms) {
  const RungKernel kernel =
      with_shape(tile_of(p, sms), [](auto shape) { return register_kernel<decltype(shape)>(); });
  return choose_operands({p}).a_first ? kernel.transposed() : kernel;
}

void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  with_shape(tile_of(arguments.problem, workspace.sms), [&](auto shape) {
    launch_split_shape<decltype(shape)>(arguments, workspace, stream);
  });
}

}  // namespace

Rung planned_tiles() {
  Rung rung = split_rung<Wide>("02_planned_tiles");
  rung.idea =
      "The tile that is done soonest of 128 x 128, 128 x 64 and those whose k two blocks share; "
      "every other tile of a block goes through k backwards.";
  rung.gain =
      "Small and skinny products have fewer tiles of 128 x 128 than the GPU has SMs. What a block "
      "read last is in the L2 when its next tile starts there.";
  rung.contender = true;
  rung.launch = &launch;
  rung.kernel_for = &kernel_for;
  rung.workspace_bytes = [](const Problem& p, int sms) {
    return with_shape(tile_of(p, sms), [&](auto shape) {
      return split_workspace_bytes(p, decltype(shape)::config.columns);
    });
  };
  return rung;
}

}  // namespace fathom::gemm::fp32_3xtf32
