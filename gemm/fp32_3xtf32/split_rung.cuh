#pragma once

#include "gemm/blocks/register_shapes.cuh"
#include "gemm/fp32_3xtf32/split_operands.h"

// What the rungs of this ladder share.

namespace fathom::gemm::fp32_3xtf32 {

/// Copies and splits operands as the shape needs them, and launches it.
template <class Shape>
void launch_split_shape(const Arguments& arguments, const Workspace& workspace,
                        cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const SplitChoice choice = choose_operands(arguments);
  std::byte* scratch = workspace.data;
  RegisterOperands operands;
  operands.a_first = choice.a_first;
  operands.second = launch_split(choice.second, Shape::config.columns, scratch, stream);
  scratch += plane_bytes(choice.second, Shape::config.columns);
  operands.first = prepare(choice.first, std::nullopt, scratch, stream);
  launch_register_shape<Shape>(arguments, operands, choice.second.outer, stream);
}

/// The rung of a shape, without its words.
template <class Shape>
Rung split_rung(const char* name) {
  Rung rung;
  rung.of = Class::fp32_3xtf32;
  rung.name = name;
  rung.capability = 90;
  rung.exact_capability = true;
  rung.kernel = register_kernel<Shape>();
  rung.launch = &launch_split_shape<Shape>;
  rung.takes_own_path = [](const Problem& p) {
    return copy_bytes(choose_operands({p}).first, std::nullopt) == 0;
  };
  rung.workspace_bytes = [](const Problem& p, int) {
    return split_workspace_bytes(p, Shape::config.columns);
  };
  return rung;
}

}  // namespace fathom::gemm::fp32_3xtf32
