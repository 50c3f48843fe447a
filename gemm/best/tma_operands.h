#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"
#include "gemm/blocks/matrix.cuh"

// Operands as kernels of TMA need them: contiguous along the dimension that the kernel is made for,
// and every column on 16 bytes. What is not so is copied to the workspace first.

namespace fathom::gemm {

/// An operand of outer x k elements, in row-major terms (gemm/bench/problem.h).
struct TmaOperand {
  const void* data = nullptr;
  std::int64_t outer = 0, k = 0, stride = 0;
  Major major = Major::k;
  Element element = Element::f16;

  // As it lies in memory: lines of contiguous elements.
  std::int64_t inner() const { return major == Major::k ? k : outer; }
  std::int64_t lines() const { return major == Major::k ? outer : k; }
};

/// Bytes of a copy for a kernel that takes this way alone (nothing: either way); 0: none is needed.
std::size_t copy_bytes(const TmaOperand& operand, const std::optional<Major>& taken);
/// Copies it to `workspace` if needed, asynchronously, moves that on, and gives the operand to use.
TmaOperand prepare(const TmaOperand& operand, const std::optional<Major>& taken,
                   std::byte*& workspace, cudaStream_t stream);

/// Ways of contiguity that a kernel takes; nothing: either.
struct MajorsTaken {
  std::optional<Major> a, b;
};

/// A map for boxes of `k` of k by `side`, in shared memory contiguous as the operand is.
CUtensorMap box_map(const TmaOperand& operand, int side, int k);

struct TmaOperands {
  TmaOperand a, b;  ///< a kernel's first operand and its second

  /// As they lie in memory: first BLAS's B, in row-major terms, or `swapped`, as BLAS has it.
  static TmaOperands of(const Arguments& arguments, bool swapped = false) {
    const Problem& p = arguments.problem;
    const Element element = traits(p.of).input;
    // BLAS's B is k x n: its columns are rows of op(B)^T, contiguous along k unless transposed.
    const Major a = p.transb == Transpose::no ? Major::k : Major::outer,
                b = p.transa == Transpose::no ? Major::outer : Major::k;
    const TmaOperand first{arguments.b, p.n, p.k, p.ldb, a, element},
        second{arguments.a, p.m, p.k, p.lda, b, element};
    return swapped ? TmaOperands{second, first} : TmaOperands{first, second};
  }
  /// Bytes that copies would take; 0 if none is needed.
  static std::size_t copy_bytes(const Problem& problem, bool swapped, const MajorsTaken& taken);
  /// Copies what must be to `workspace`, asynchronously, and gives the operands to use.
  static TmaOperands prepared(const Arguments& arguments, bool swapped, const MajorsTaken& taken,
                              std::byte* workspace, cudaStream_t stream);
};

/// Copies it to lines on 16 bytes, `target_stride` elements apart; gaps become anything.
void launch_realign(const TmaOperand& source, void* target, std::int64_t target_stride,
                    cudaStream_t stream);

}  // namespace fathom::gemm
