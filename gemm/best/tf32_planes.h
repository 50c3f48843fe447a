#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "gemm/best/tma_operands.h"

// An fp32 operand as two of tf32 (gemm/blocks/tf32_split.cuh), contiguous along k however it lies
// itself, in tiles of `columns` of its outer dimension: the high parts of the first tile, its low
// parts, those of the second tile, and so on. A box of TMA then brings both.

namespace fathom::gemm {

struct Tf32Planes {
  std::int64_t outer = 0;   ///< lines of both planes, those that fill up the last tile included
  std::int64_t stride = 0;  ///< elements from one line to the next, on 16 bytes
  std::size_t bytes() const { return static_cast<std::size_t>(outer * stride) * sizeof(float); }
};

Tf32Planes tf32_planes(const TmaOperand& operand, int columns);

/// Writes them to `target`, which starts on 16 bytes, asynchronously, and gives them as an operand.
/// Lines that fill up the last tile become zeros; what is behind k in a line becomes anything.
TmaOperand launch_split(const TmaOperand& operand, int columns, std::byte* target,
                        cudaStream_t stream);

}  // namespace fathom::gemm
