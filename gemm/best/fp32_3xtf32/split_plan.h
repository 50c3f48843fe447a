#pragma once

#include <cstdint>

#include "gemm/best/tf32_planes.h"

// How a product of fp32 by three of tf32 is cut: which operand is split where, and into which tile.

namespace fathom::gemm::fp32_3xtf32 {

struct SplitChoice {
  TmaOperand first;      ///< goes through registers, where threads split it
  TmaOperand second;     ///< is split to planes in memory first
  bool a_first = false;  ///< `first` is BLAS's A
};

/// The second operand is read once and written twice before the product: of a skinny product it is
/// the small one; else the one whose lines do not start on 16 bytes, since its planes' do; else the
/// one that lies along k and needs no transposition.
SplitChoice choose_operands(const Arguments& arguments);

/// Bytes of the planes, up to where another matrix may start.
std::size_t plane_bytes(const TmaOperand& second, int columns);

/// Bytes of the planes and of what must be copied of the other operand.
std::size_t split_workspace_bytes(const Problem& problem, int columns);

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
