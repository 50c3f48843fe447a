#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gemm/bench/rung.h"

// What is done to a product's operands before or instead of a kernel whose operands come by TMA.

namespace fathom::gemm {

/// A matrix in memory of `lines` lines of `length` contiguous elements of `bytes` bytes (1, 2, 4
/// or, to be realigned, 8), `stride` elements from one to the next.
struct Lines {
  const void* data;
  std::int64_t lines, length, stride;
  int bytes;
};

/// Copies it to where lines start on 16 bytes; `target_stride` in elements. Gaps between lines
/// become anything.
void launch_realign(const Lines& source, void* target, std::int64_t target_stride,
                    cudaStream_t stream);
/// Copies its transpose: `length` lines of `lines` elements.
void launch_transpose(const Lines& source, void* target, std::int64_t target_stride,
                      cudaStream_t stream);

/// C = beta C: a product whose k or alpha is 0. Where beta is 0, C is not read. Throws Error for a
/// type that no class has C in.
void launch_scale(const Arguments& arguments, cudaStream_t stream);

/// Nothing to do, or no more than to scale C: done, and true.
bool launch_without_product(const Arguments& arguments, cudaStream_t stream);

}  // namespace fathom::gemm
