// Clusters of eight, and skinny products from where their operands lie.

#include "gemm/best/contenders.h"
#include "gemm/best/tf32/register_rung.cuh"
#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::tf32 {

/// fp32 in memory throughout.
struct Types {
  using In = float;
  using Out = float;
  using Scalar = float;
};

namespace {

struct LargeClusters {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
  static constexpr RegisterKernelConfig config{.columns = 256,
                                               .stages = 4,
                                               .cluster_m = 4,
                                               .cluster_n = 2,
                                               .band = 4,
                                               .persistent = true,
                                               .serpentine = true,
                                               .has_tail = true};
};

/// For products that fill the GPU with half as wide tiles only.
struct HalfWide {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
  static constexpr RegisterKernelConfig config{.columns = 128,
                                               .stages = 6,
                                               .cluster_m = 2,
                                               .band = 8,
                                               .persistent = true,
                                               .serpentine = true};
};

/// For products of few columns: as many tiles of 128 x 128 as the other side has, two blocks a
/// tile.
struct Skinny {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterKernelConfig config{
      .columns = 128, .stages = 6, .split_k = 2, .band = 1};
};

/// For those of 16 columns at most, both operands along k.
struct NarrowBoxes : AlongK {
  static constexpr KernelConfig config{
      .n = 16, .stages = 12, .split_k = 2, .band = 1, .narrow_b = true};
};

/// For most of those: the large operand streams by, as long runs.
struct Streamed {
  static constexpr StreamedKernelConfig config{.stages = 5, .cluster = 4};
};

bool a_is_large(const Problem& p) { return p.m >= p.n; }

/// The operand of a skinny product that goes through registers: the large one where it lies across,
/// so that it need not be transposed, else the small one.
bool skinny_a_first(const Problem& p) {
  return a_is_large(p) ? p.transa == Transpose::no : p.transb == Transpose::no;
}

/// Whether tiles half as wide are done sooner: one an SM at a time, each in 0.625 of the time of a
/// wide one (at 4096 cubed on an H200, 303 against 379 TFLOP/s).
bool half_wide_is_sooner(const Problem& p, int sms) {
  const bool a = a_first(p);
  const auto waves = [&](int columns) {
    const std::int64_t tiles = ceil_div(a ? p.m : p.n, 128) * ceil_div(a ? p.n : p.m, columns);
    return static_cast<double>(ceil_div(tiles, sms));
  };
  return 0.625 * waves(HalfWide::config.columns) < waves(LargeClusters::config.columns);
}

void launch_skinny_across(const Arguments& arguments, const Workspace& workspace,
                          cudaStream_t stream) {
  launch_registers<Skinny>(arguments, skinny_a_first(arguments.problem), workspace, stream);
}

void launch_narrow(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  launch_tma_product<NarrowBoxes, Types>(
      arguments, TmaOperands::prepared(arguments, AlongK::majors, workspace.data, stream),
      a_is_large(arguments.problem), stream);
}

/// Products along k and those that stream by have no tiles of these shapes.
RungPlan plan(const Problem& p, int sms) {
  if (takes_streamed<Types>(p)) return {&launch_streamed<Streamed, Types>};
  if (!is_skinny(p)) {
    if (none_lies_across(p)) return plan_of(p, AlongK::majors, &launch_along_k);
    return half_wide_is_sooner(p, sms) ? across_plan<HalfWide>(p) : across_plan<LargeClusters>(p);
  }
  const bool large_along = a_is_large(p) ? p.transa == Transpose::yes : p.transb == Transpose::no;
  if (large_along && std::min(p.m, p.n) <= NarrowBoxes::config.n)
    return plan_of(p, AlongK::majors, &launch_narrow);
  const bool a = skinny_a_first(p);
  return plan_of(p, register_layout(a), &launch_skinny_across, register_kernel_for<Skinny>(a));
}

}  // namespace

void launch_along_k(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (is_skinny(arguments.problem))
    return launch_skinny<AlongK, Types>(arguments, workspace, stream);
  launch_shape<WideTile<AlongK>, Types>(arguments, workspace, stream);
}

Rung large_clusters() {
  Rung rung = hopper_rung(Class::tf32, "03_large_clusters");
  rung.kernel = register_kernel<LargeClusters>();
  rung.idea =
      "Clusters of 4 x 2 blocks share the tiles of both operands, small ones have the SMs that no "
      "cluster of eight fits on, and every other tile goes through k backwards. A skinny "
      "product's large operand is read where it lies, and for 16 columns or fewer in runs of 2 "
      "KiB.";
  rung.gain =
      "A block takes 16 KiB from the L2 for a stage of 1024 clocks instead of 32. The tensor "
      "cores are at work 95 % of the time, at the clock that the power limit leaves: what is not "
      "moved from the L2 and from memory leaves it higher.";
  rung.contender = true;
  follow_plan<plan>(rung);
  return rung;
}

}  // namespace fathom::gemm::tf32
