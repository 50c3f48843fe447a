#pragma once

#include <utility>

#include "gemm/best/plan.h"
#include "gemm/blocks/register_shapes.cuh"

// Products of tf32 of which one operand goes through registers, and may lie across k.

namespace fathom::gemm::tf32 {

/// Both operands along k: nothing lies across.
inline bool none_lies_across(const Problem& p) {
  return p.transa == Transpose::yes && p.transb == Transpose::no;
}

/// Whether the operand that goes through registers is BLAS's A: it lies across k then.
inline bool a_first(const Problem& p) { return p.transa == Transpose::no; }

/// How the kernel's operands, in row-major terms, have to lie: there BLAS's A is the second. What
/// goes through registers may lie either way.
inline MajorsTaken register_layout(bool a_first) {
  return a_first ? MajorsTaken{Major::k, std::nullopt} : MajorsTaken{std::nullopt, Major::k};
}

/// Copies operands as the shape needs them, and launches it with BLAS's A through registers or its
/// B.
template <class Shape>
void launch_registers(const Arguments& arguments, bool a_first, const Workspace& workspace,
                      cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const TmaOperands operands =
      TmaOperands::prepared(arguments, register_layout(a_first), workspace.data, stream);
  const TmaOperand& first = a_first ? operands.b : operands.a;
  const TmaOperand& second = a_first ? operands.a : operands.b;
  launch_register_shape<Shape>(arguments, {first, second, a_first}, second.outer, stream);
}

/// With the operand that lies across.
template <class Shape>
void launch_across(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  launch_registers<Shape>(arguments, a_first(arguments.problem), workspace, stream);
}

/// What is reported of a product: the tile's rows are those of the operand that goes through
/// registers, and where that is BLAS's A, those of C, which the rung's own view has as columns.
template <class Shape>
RungKernel register_kernel_for(bool a_first) {
  const RungKernel kernel = register_kernel<Shape>();
  return a_first ? kernel.transposed() : kernel;
}

/// The plan with operands that must lie so.
inline RungPlan plan_of(const Problem& p, const MajorsTaken& layout,
                        void (*launch)(const Arguments&, const Workspace&, cudaStream_t),
                        const RungKernel& kernel = {}) {
  const std::size_t copied = TmaOperands::copy_bytes(p, layout);
  return {launch, copied, kernel, copied == 0};
}
template <class Shape>
RungPlan across_plan(const Problem& p) {
  return plan_of(p, register_layout(a_first(p)), &launch_across<Shape>,
                 register_kernel_for<Shape>(a_first(p)));
}

}  // namespace fathom::gemm::tf32
