#pragma once

#include <cstdint>

// Which tile a product of this ladder is cut into.

namespace fathom::gemm::fp32_3xtf32 {

/// A tile has 128 rows of the first operand and so many columns of the second; `split_k` blocks
/// share its k.
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
