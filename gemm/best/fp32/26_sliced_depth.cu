// fp32's contender on Hopper. A block an SM takes tiles one after the other, and shares what whole
// waves leave; for few columns a block has a tile as wide as C, and its warps share k instead of
// the tile.

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
/// of the product, and filling by threads costs a twentieth of all. That is 600, and neither is
/// exact.
constexpr double flops_a_copied_byte = 700;

/// The best placed of the tiles that transpose what lies along k; null where lines do not start on
/// 16 bytes or no operand lies along k.
std::optional<WarpSpecialisedChoice> transposing_for(const Problem& p) {
  std::optional<WarpSpecialisedChoice> best;
  for (const WarpSpecialisedChoice& tile :
       {transposing_producer_a(), transposing_producer_b(), transposing_producer_both()}) {
    if (tile.takes(p) && (!best || tile.placement(p) < best->placement(p))) best = tile;
  }
  return best;
}

/// Who fills the stages: TMA, and threads that transpose what lies along k, where lines start on
/// 16 bytes; else TMA where copying operands first costs little, else threads. Null where the
/// product is smaller than a tile.
std::optional<WarpSpecialisedChoice> choice_for(const Problem& p) {
  const WarpSpecialisedChoice by_tma = tma_producer_128x256(),
                              by_threads = thread_producer_128x256();
  if (!by_threads.takes(p)) return std::nullopt;
  if (const auto transposing = transposing_for(p)) return transposing;
  const auto copied = static_cast<double>(by_tma.copy_bytes(p));
  return p.flops() >= flops_a_copied_byte * copied ? by_tma : by_threads;
}

RungPlan plan(const Problem& p, int sms) {
  if (is_narrow(p)) return {&launch_sliced<Tile>};
  if (const auto tile = choice_for(p)) {
    RungKernel kernel = tile->kernel(p, sms);
    kernel.parts = 0;
    return {tile->launch, tile->workspace_bytes(p, sms), kernel};
  }
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
