#pragma once

#include "gemm/blocks/register_shapes.cuh"

// Products of tf32 of which one operand lies across k.

namespace fathom::gemm::tf32 {

/// Both operands along k: nothing lies across.
inline bool none_lies_across(const Problem& p) {
  return p.transa == Transpose::yes && p.transb == Transpose::no;
}

/// Whether the operand that goes through registers is BLAS's A: it lies across k then.
inline bool a_first(const Problem& p) { return p.transa == Transpose::no; }

/// How the kernel's operands, in row-major terms, have to lie: there BLAS's A is the second. What
/// goes through registers may lie either way.
inline MajorsTaken register_layout(const Problem& p) {
  return a_first(p) ? MajorsTaken{Major::k, std::nullopt} : MajorsTaken{std::nullopt, Major::k};
}

/// Copies operands as the shape needs them, and launches it; k and alpha are not 0.
template <class Shape>
void launch_across(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Problem& p = arguments.problem;
  const EngineOperands operands =
      EngineOperands::prepared(arguments, register_layout(p), workspace.data, stream);
  const bool a = a_first(p);
  const EngineOperand& first = a ? operands.b : operands.a;
  const EngineOperand& second = a ? operands.a : operands.b;
  launch_register_shape<Shape>(arguments, {first, second, a}, second.outer, stream);
}

}  // namespace fathom::gemm::tf32
