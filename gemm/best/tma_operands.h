#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
#include "gemm/best/operand_copies.h"

// Operands as kernels of TMA need them: contiguous along the dimension that the kernel
// is made for, and every column on 16 bytes. What is not so is copied to the workspace first.

namespace fathom::gemm {

/// An operand of outer x k elements, in row-major terms (gemm/bench/problem.h).
struct TmaOperand {
  const void* data = nullptr;
  std::int64_t outer = 0, k = 0, stride = 0;
  Major major = Major::k;
  Element element = Element::f16;
};

/// Bytes that a copy of the operand would take for a kernel that takes this way of contiguity
/// (nothing: either); 0 if none is needed.
std::size_t copy_bytes(const TmaOperand& operand, const std::optional<Major>& taken);
/// Copies it to `workspace` if it must be, asynchronously, moves `workspace` behind the copy, and
/// gives the operand to use.
TmaOperand prepare(const TmaOperand& operand, const std::optional<Major>& taken,
                   std::byte*& workspace, cudaStream_t stream);

/// Ways of contiguity that a kernel takes; nothing: either.
struct MajorsTaken {
  std::optional<Major> a, b;
};

struct TmaOperands {
  TmaOperand a, b;  ///< the row-major product's first operand and its second: BLAS's B and A

  /// As they lie in memory.
  static TmaOperands of(const Arguments& arguments);
  /// Bytes that copies would take; 0 if none is needed.
  static std::size_t copy_bytes(const Problem& problem, const MajorsTaken& taken);
  /// Copies what must be to `workspace`, asynchronously, and gives the operands to use.
  static TmaOperands prepared(const Arguments& arguments, const MajorsTaken& taken,
                              std::byte* workspace, cudaStream_t stream);
};

}  // namespace fathom::gemm
