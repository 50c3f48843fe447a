#pragma once

#include "gemm/blocks/engine_shapes.cuh"
#include "gemm/brief_plan.h"

// The shapes of the top rungs for products between those of microseconds and those of many waves.

namespace fathom::gemm {

/// For products that are one wave of blocks, in as many columns as make it the shortest one. Wider
/// tiles are in clusters of two, as gemm/brief_plan.cpp knows: of 16-bit types those of 160 columns
/// one below the other, else beside each other.
template <class Layout, int columns>
struct BriefTile : Layout {
  static constexpr bool below = columns == 160 && Layout::majors.b != Major::k;
  static constexpr Design design{.n = columns,
                                 .stages = columns <= most_narrow ? 9
                                           : columns <= 128       ? 7
                                                                  : 5,
                                 .cluster_m = below ? 2 : 1,
                                 .cluster_n = columns > most_narrow && !below ? 2 : 1,
                                 .band = 1,
                                 .early = true,
                                 .brief = true,
                                 .half_b = columns % block_side != 0};
};

/// For products that 256 columns leave a last wave almost empty of.
template <class Layout>
struct Columns192 : Layout {
  static constexpr Design design = [] {
    Design d = LargeClusters<Layout>::design;
    d.n = 192;
    d.cluster_m = 2;
    d.half_b = true;
    d.kept_a = 0;
    d.deferred_stores = false;  // three pieces of a row in turns spill a register
    return d;
  }();
};

/// Calls `use` with the tile of a plan.
template <class Layout, class Types, class Use>
auto with_brief_tile(int columns, Use&& use) {
  if constexpr (sizeof(typename Types::In) == 1) {
    if (columns == 16) return use(BriefTile<Layout, 16>{});
  }
  if (columns == 64) return use(BriefTile<Layout, 64>{});
  if (columns == 128) return use(BriefTile<Layout, 128>{});
  if (columns == 160) return use(BriefTile<Layout, 160>{});
  return use(BriefTile<Layout, 192>{});
}

template <class Layout, class Types>
void launch_brief(int columns, const Arguments& arguments, const Workspace& workspace,
                  cudaStream_t stream) {
  with_brief_tile<Layout, Types>(columns, [&](auto shape) {
    launch_shape<decltype(shape), Types>(arguments, workspace, stream);
  });
}

/// What a rung reports of it; `function` as of engine_kernel.
template <class Layout, class Types>
RungKernel brief_kernel(const void* function, int columns) {
  return with_brief_tile<Layout, Types>(
      columns, [&](auto shape) { return engine_kernel<decltype(shape), Types>(function); });
}

/// As launch_best_shape where none of these is sooner.
template <class Layout, class Types>
void launch_fullest_waves(const Arguments& arguments, const Workspace& workspace,
                          cudaStream_t stream) {
  const Problem& p = arguments.problem;
  if (const auto plan = brief_plan(p, workspace.sms))
    return launch_brief<Layout, Types>(plan->columns, arguments, workspace, stream);
  if (waves_of_192_are_sooner(p, workspace.sms))
    return launch_shape<Columns192<Layout>, Types>(arguments, workspace, stream);
  launch_best_shape<Layout, Types>(arguments, workspace, stream);
}

/// The top rung of a type whose small products are these tiles.
template <class Layout, class Types>
Rung fullest_waves_rung(Class of, const char* name) {
  Rung rung = best_rung<Layout, Types>(of, name);
  rung.launch = &launch_fullest_waves<Layout, Types>;
  rung.kernel_for = [function = rung.kernel.function](const Problem& p, int sms) {
    if (const auto plan = brief_plan(p, sms))
      return brief_kernel<Layout, Types>(function, plan->columns);
    if (waves_of_192_are_sooner(p, sms)) return engine_kernel<Columns192<Layout>, Types>(function);
    return best_shape_kernel<Layout, Types>(function, p, sms);
  };
  return rung;
}

}  // namespace fathom::gemm
