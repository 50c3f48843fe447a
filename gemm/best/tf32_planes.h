#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "gemm/best/tma_operands.h"

// How a product of fp32 by three of tf32 is cut: which operand is split where, and into which tile.

namespace fathom::gemm::fp32_3xtf32 {

// An fp32 operand as two of tf32 (gemm/blocks/tf32_split.cuh), contiguous along k however it lies
// itself, in tiles of `columns` of its outer dimension: the high parts of the first tile, its low
// parts, those of the second tile, and so on. A box of TMA then brings both.

struct Tf32Planes {
  std::int64_t outer = 0;   ///< lines of both planes, those that fill up the last tile included
  std::int64_t stride = 0;  ///< elements from one line to the next, on 16 bytes
  /// Up to where another matrix may start.
  std::size_t bytes() const {
    return workspace_part(static_cast<std::size_t>(outer * stride) * sizeof(float));
  }
};

Tf32Planes tf32_planes(const TmaOperand& operand, int columns);

/// Writes them to `target`, which starts on 16 bytes, asynchronously, and gives them as an operand.
/// Lines that fill up the last tile become zeros; what is behind k in a line becomes anything.
TmaOperand launch_split(const TmaOperand& operand, int columns, std::byte* target,
                        cudaStream_t stream);

struct SplitChoice {
  TmaOperand first;      ///< goes through registers, where threads split it
  TmaOperand second;     ///< is split to planes in memory first
  bool a_first = false;  ///< `first` is BLAS's A
};

/// The second operand is read once and written twice before the product: of a skinny product it is
/// the small one; else the one whose lines do not start on 16 bytes, since its planes' do; else the
/// one that lies along k and needs no transposition.
SplitChoice choose_operands(const Arguments& arguments);

/// 128 rows of the first operand by so many columns of the second; `split_k` blocks share its k.
struct SplitTile {
  int columns, split_k;
  friend bool operator==(const SplitTile&, const SplitTile&) = default;
};

/// In the order of which the rung's shapes are.
inline constexpr SplitTile split_tiles[] = {{128, 1}, {64, 1}, {128, 2}, {64, 2}, {16, 2}};

/// Index of the tile that is done soonest: waves of blocks, one an SM, times the clocks of a block.
/// Those are the tensor cores' for its products, or what its share of the memory bus takes for the
/// first operand's part of a stage, and what comes before, after and between waves.
int best_tile(std::int64_t rows, std::int64_t columns, std::int64_t k, int sms);

}  // namespace fathom::gemm::fp32_3xtf32
