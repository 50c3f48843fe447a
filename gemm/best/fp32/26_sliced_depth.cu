// fp32's contender on Hopper. A block an SM takes tiles one after the other, and shares what whole
// waves leave; for few columns a block has a tile as wide as C, and its warps share k instead of
// the tile.

#include <algorithm>
#include <optional>

#include "gemm/best/fp32/sliced_product.cuh"
#include "gemm/best/fp32/tilings.h"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/plan.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = SlicedTile<16, 8, 8, 4, 5>;

/// Whether the kernel for few columns does the product as it lies; row-major, those are the
/// problem's rows.
bool is_narrow(const Problem& p) {
  return p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0 && p.m <= Tile::n &&
         TmaOperands::copy_bytes(p, sliced_majors) == 0;
}

/// What a copied byte must be worth: measured on an H200, copying it takes as long as some 30 FLOP
/// of the product, and the tilings, which take operands as they lie, are a tenth slower.
constexpr double flops_a_copied_byte = 300;

/// Filled by TMA, and threads that transpose what lies along k, where lines start on 16 bytes: the
/// best placed of those tiles. Else by TMA alone, where copying operands first costs little.
/// Nothing for others, and for products smaller than a tile.
std::optional<WarpSpecialisedChoice> choice_for(const Problem& p) {
  const WarpSpecialisedChoice by_tma = tma_producer_128x256();
  if (std::min(p.m, p.n) < by_tma.m || std::max(p.m, p.n) < by_tma.n) return std::nullopt;
  std::optional<WarpSpecialisedChoice> best;
  for (const WarpSpecialisedChoice& tile :
       {transposing_producer_a(), transposing_producer_b(), transposing_producer_both()}) {
    if (tile.takes(p) && (!best || tile.placement(p) < best->placement(p))) best = tile;
  }
  const bool copies_pay =
      p.flops() >= flops_a_copied_byte * static_cast<double>(by_tma.copy_bytes(p));
  if (!best && copies_pay) best = by_tma;
  return best;
}

RungPlan plan(const Problem& p, int sms) {
  if (is_narrow(p)) return {&launch_sliced<Tile>};
  if (const auto tile = choice_for(p)) return tile->plan(p, sms);
  RungPlan tiles = planned(p, sms);
  tiles.own_path = false;
  return tiles;
}

}  // namespace

Rung sliced_depth() {
  Rung rung = hopper_contender<plan>(Class::fp32, "26_sliced_depth");
  rung.idea =
      "TMA fills the stages, and of operands along k four warps transpose them in shared memory; "
      "eight warps multiply. A block an SM takes tiles one after the other; of those that would be "
      "the last, partly filled waves each block takes an equal share of k (stream-K). For up to 16 "
      "columns a block has 64 rows and the whole of k, of which each of its eight warps takes "
      "every eighth four.";
  rung.gain =
      "No copies, addresses or barriers of the whole block among the multiplications. At 4096³ and "
      "8192³ the last wave is nine tenths and half full, which costs 3 %; products of few "
      "tiles keep every SM busy. A skinny product reads its large operand once, and no sums leave "
      "an SM.";
  return rung;
}

}  // namespace fathom::gemm::fp32
