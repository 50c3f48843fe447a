#pragma once

#include "gemm/fp64/tma_rung.cuh"

// What the rungs from 07 on do with a product. It is decided once: the launch, the workspace and
// the report read the plan.

namespace fathom::gemm::fp64 {

/// Tiles for products that the tensor cores bound.
inline constexpr KernelConfig tiles_config{.cluster_n = 2, .stream_k = true};

struct Plan {
  enum class Path {
    tiles,     ///< by the rung's own kernel
    rows64,    ///< by tiles of 64 rows, for products that the memory bus bounds
    rows16,    ///< by tiles of 16
    streamed,  ///< the large operand of at most 16 rows streams by
  };
  Path path = Path::tiles;
  bool swapped = false;           ///< the tiles' rows lie along C's columns
  std::size_t partial_bytes = 0;  ///< for the sums that workers leave each other
  std::size_t copied_bytes = 0;   ///< for lines of operands that are copied first

  std::size_t workspace_bytes() const { return partial_bytes + copied_bytes; }
};

/// On a GPU of so many SMs.
Plan plan(const Problem& problem, int sms);

/// Launches what the plan says, but for the rung's own tiles.
void launch_few_rows(const Plan& plan, const Arguments& arguments, const Workspace& workspace,
                     cudaStream_t stream);

template <class Shape>
void launch_planned(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const Plan planned = plan(arguments.problem, workspace.sms);
  if (planned.path != Plan::Path::tiles)
    return launch_few_rows(planned, arguments, workspace, stream);
  launch_tma_product<Shape>(arguments, workspace, planned.swapped, stream);
}

/// The rung of a shape with tiles of `tiles_config`.
template <class Shape>
Rung planned_rung(const char* name) {
  static_assert(Shape::config.m() == tiles_config.m() && Shape::config.n() == tiles_config.n());
  Rung rung = shape_rung<Shape>(name);
  rung.launch = &launch_planned<Shape>;
  // Which operands are copied is the same on every GPU.
  rung.takes_own_path = [](const Problem& p) { return plan(p, 1).copied_bytes == 0; };
  rung.workspace_bytes = [](const Problem& p, int sms) { return plan(p, sms).workspace_bytes(); };
  rung.kernel_for = [kernel = rung.kernel](const Problem& p, int sms) {
    return plan(p, sms).path == Plan::Path::tiles ? kernel : RungKernel{};
  };
  return rung;
}

}  // namespace fathom::gemm::fp64
