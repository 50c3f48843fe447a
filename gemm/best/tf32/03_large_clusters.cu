// No copy for an operand that lies across: it goes to the products through registers. Clusters of
// eight, and skinny products from where their operands lie.

#include "gemm/best/plan.h"
#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::tf32 {

/// fp32 in memory throughout.
using Types = KernelTypes<float>;

namespace {

struct LargeClusters {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
  static constexpr KernelConfig config{.n = 256,
                                       .stages = 4,
                                       .cluster_m = 4,
                                       .cluster_n = 2,
                                       .band = 4,
                                       .a_in_registers = true,
                                       .serpentine = true,
                                       .has_tail = true};
};

/// For products that fill the GPU with half as wide tiles only.
struct HalfWide {
  static constexpr MajorsTaken majors{Major::outer, Major::k};
  static constexpr KernelConfig config{
      .n = 128, .stages = 6, .cluster_m = 2, .a_in_registers = true, .serpentine = true};
};

/// For products of few columns: tiles of 128 x 128, two blocks a tile.
struct Skinny {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr KernelConfig config{.n = 128, .stages = 6, .split_k = 2, .a_in_registers = true};
};

/// Both operands along k: nothing lies across.
bool none_lies_across(const Problem& p) {
  return p.transa == Transpose::yes && p.transb == Transpose::no;
}

/// Whether the operand that goes through registers is BLAS's A: it lies across k then.
bool a_first(const Problem& p) { return p.transa == Transpose::no; }

/// The operand of a skinny product that goes through registers: the large one where it lies across,
/// so that it need not be transposed, else the small one.
bool skinny_a_first(const Problem& p) {
  return p.m >= p.n ? p.transa == Transpose::no : p.transb == Transpose::no;
}

/// Whether tiles half as wide are done sooner: one an SM at a time, each in 0.625 of the time of a
/// wide one (at 4096³ on an H200, 303 against 379 TFLOP/s).
bool half_wide_is_sooner(const Problem& p, int sms) {
  const bool a = a_first(p);
  const auto waves = [&](int columns) {
    const std::int64_t tiles = ceil_div(a ? p.m : p.n, 128) * ceil_div(a ? p.n : p.m, columns);
    return static_cast<double>(ceil_div(tiles, sms));
  };
  return 0.625 * waves(HalfWide::config.n) < waves(LargeClusters::config.n);
}

/// Those that stream by have no tiles.
RungPlan plan(const Problem& p, int sms) {
  if (streamed::takes<float>(p)) return streamed::plan<float>(p);
  if (!is_skinny(p)) {
    if (none_lies_across(p)) return shape_plan<WideTile<AlongK>, Types>(p, false);
    return half_wide_is_sooner(p, sms) ? shape_plan<HalfWide, Types>(p, a_first(p))
                                       : shape_plan<LargeClusters, Types>(p, a_first(p));
  }
  return shape_plan<Skinny, Types>(p, skinny_a_first(p));
}

}  // namespace

Rung large_clusters() {
  Rung rung = hopper_contender(Class::tf32, "03_large_clusters", &plan);
  rung.idea =
      "An operand that lies across k is read from shared memory by threads, 32 lanes from 32 "
      "banks, and wgmma takes it from their registers; clusters of 4 x 2 blocks share the tiles "
      "of both operands, and of 16 columns or fewer the large operand streams by in runs of 2 KiB.";
  rung.gain =
      "BLAS's NN and TT need no transposed copy: at 4096³ that reads and writes 134 MB, 28 us of "
      "an H200's memory bus before the 257 us that the tensor cores need. A block takes 16 KiB "
      "from the L2 for a stage of 1024 clocks instead of 32, so that the power limit leaves a "
      "higher clock.";
  return rung;
}

}  // namespace fathom::gemm::tf32
