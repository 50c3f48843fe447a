#pragma once

#include <compare>

#include "gemm/best/plan.h"

// The warp-specialised kernel's tiles. m and n are those of the tile; it lies along C's rows or
// columns.

namespace fathom::gemm::fp32 {

/// How a tile lies on a product's C. The less the better: tiles that reach less beyond C, and of
/// two that reach as far those whose long side lies along C's columns, where they store 16 bytes at
/// once (on an H200 at 4096³ NN 1.055 times cuBLAS instead of 1.030, TT 1.030 instead
/// of 1.000).
struct TilePlacement {
  std::int64_t covered;  ///< elements of the tiles that cover C
  bool swapped;          ///< the long side lies across C's columns
  friend auto operator<=>(const TilePlacement&, const TilePlacement&) = default;
};

struct WarpSpecialisedChoice {
  bool (*takes)(const Problem&);               ///< how its operands lie
  TilePlacement (*placement)(const Problem&);  ///< of a product that it takes
  /// For a product that it takes, on so many SMs: as many blocks do the product.
  RungPlan (*plan)(const Problem&, int sms);
};

/// Filled by TMA; operands that lie otherwise are copied first.
WarpSpecialisedChoice tma_producer_128x256();
/// Filled by TMA, and by threads that transpose the operands along k: A of the tile's shorter side,
/// B of its longer one, or both. They take products whose operands lie just so, with lines on 16
/// bytes.
WarpSpecialisedChoice transposing_producer_a();
WarpSpecialisedChoice transposing_producer_b();
WarpSpecialisedChoice transposing_producer_both();

}  // namespace fathom::gemm::fp32
