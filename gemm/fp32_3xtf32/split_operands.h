#pragma once

#include "gemm/tf32_planes.h"

// Which operand of a product is split in the kernel, and which before it.

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

}  // namespace fathom::gemm::fp32_3xtf32
