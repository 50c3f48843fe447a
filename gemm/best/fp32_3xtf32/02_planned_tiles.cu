// fp32 accuracy from three products of tf32, in tiles that leave no SM without work.

#include "gemm/best/tf32_planes.h"
#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/tma_shapes.cuh"

namespace fathom::gemm::fp32_3xtf32 {

/// fp32 in memory throughout.
using Types = KernelTypes<float>;

namespace {

struct AnyFirst {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
};
template <int Columns, int Stages>
struct Whole : AnyFirst {
  static constexpr KernelConfig config{.n = Columns,
                                       .stages = Stages,
                                       .cluster_m = 2,
                                       .a_in_registers = true,
                                       .serpentine = true,
                                       .three_products = true};
};
/// The blocks of a cluster share the k of a tile.
template <int Columns, int Stages>
struct Shared : AnyFirst {
  static constexpr KernelConfig config{.n = Columns,
                                       .stages = Stages,
                                       .split_k = 2,
                                       .a_in_registers = true,
                                       .narrow_b = Columns < 32,
                                       .three_products = true};
};

/// Copies and splits operands as the shape needs them, and launches it.
template <class Shape>
void launch_split_shape(const Arguments& arguments, const Workspace& workspace,
                        cudaStream_t stream) {
  const SplitChoice choice = choose_operands(arguments);
  std::byte* scratch = workspace.data;
  TmaOperands operands{{}, launch_split(choice.second, Shape::config.n, scratch, stream)};
  scratch += tf32_planes(choice.second, Shape::config.n).bytes();
  operands.a = prepare(choice.first, std::nullopt, scratch, stream);
  launch_tma_product<Shape, Types>(arguments, operands, choice.a_first, stream);
}

template <class Shape>
RungPlan plan_of(const SplitChoice& choice) {
  const std::size_t copied = copy_bytes(choice.first, std::nullopt);
  return {&launch_split_shape<Shape>, tf32_planes(choice.second, Shape::config.n).bytes() + copied,
          tma_kernel<Shape, Types>({choice.first, choice.second}, choice.a_first), copied == 0};
}

RungPlan plan(const Problem& p, int sms) {
  const SplitChoice choice = choose_operands({p});
  // In the order of `split_tiles`.
  static constexpr RungPlan (*plans[])(const SplitChoice&) = {
      &plan_of<Whole<128, 4>>, &plan_of<Whole<64, 6>>, &plan_of<Shared<128, 4>>,
      &plan_of<Shared<64, 6>>, &plan_of<Shared<16, 11>>};
  return plans[best_tile(choice.first.outer, choice.second.outer, p.k, sms)](choice);
}

}  // namespace

Rung planned_tiles() {
  Rung rung = hopper_contender(Class::fp32_3xtf32, "02_planned_tiles", &plan);
  rung.idea =
      "Each operand is the sum of two tf32 numbers. Of the four products of their parts three are "
      "added, small ones first: the tensor cores add up 32 of k, and threads add those sums. A "
      "product has the tile that is done soonest.";
  rung.gain =
      "The tensor cores multiply tf32 at 8 times the rate of the FMA units, so that three "
      "products leave 2.7 times the rate of fp32, at its accuracy. Small and skinny products have "
      "fewer tiles of 128 x 128 than the GPU has SMs.";
  return rung;
}

}  // namespace fathom::gemm::fp32_3xtf32
