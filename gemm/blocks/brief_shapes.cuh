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
                                 .stages = columns <= 64    ? 9
                                           : columns <= 128 ? 7
                                                            : 5,
                                 .cluster_m = below ? 2 : 1,
                                 .cluster_n = columns > 64 && !below ? 2 : 1,
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

/// In the tile of a plan.
template <class Layout, class Types>
void launch_brief(int columns, const Arguments& arguments, const Workspace& workspace,
                  cudaStream_t stream) {
  if constexpr (sizeof(typename Types::In) == 1) {
    if (columns == 16)
      return launch_shape<BriefTile<Layout, 16>, Types>(arguments, workspace, stream);
  }
  if (columns == 64)
    return launch_shape<BriefTile<Layout, 64>, Types>(arguments, workspace, stream);
  if (columns == 128)
    return launch_shape<BriefTile<Layout, 128>, Types>(arguments, workspace, stream);
  if (columns == 160)
    return launch_shape<BriefTile<Layout, 160>, Types>(arguments, workspace, stream);
  launch_shape<BriefTile<Layout, 192>, Types>(arguments, workspace, stream);
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

}  // namespace fathom::gemm
