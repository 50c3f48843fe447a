// As many blocks as the GPU has SMs, and all have the same to do.

#include "gemm/blocks/operands.cuh"
#include "gemm/fp32/fed_tiles.h"
#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tilings.h"

namespace fathom::gemm::fp32 {

std::optional<FedChoice> fed_choice_of(const Problem& p) {
  std::optional<FedChoice> best;
  if (p.alpha == 0 || p.k == 0) return best;
  const auto covered = [&](const FedChoice& t) { return ceil_div(p.n, t.m) * t.m * ceil_div(p.m, t.n) * t.n; };
  for (const FedChoice& tile : {thread_fed_128x256(), thread_fed_256x128()}) {
    if (tile.takes_sizes(p) && (!best || covered(tile) < covered(*best))) best = tile;
  }
  return best;
}

void launch_equal_shares(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (const auto tile = fed_choice_of(arguments.problem))
    return tile->launch(arguments, workspace, Sharing::equal, stream);
  launch_planned(arguments, workspace, stream);
}

std::size_t equal_shares_bytes(const Problem& p, int sms) {
  if (const auto tile = fed_choice_of(p)) return tile->workspace_bytes(p, sms, Sharing::equal);
  return bytes_of_parts(p, make_plan(p, sms).parts);
}

Rung equal_shares_of_k() {
  Rung rung;
  rung.id = "fp32/25_equal_shares";
  rung.of = Class::fp32;
  rung.idea = "A block an SM takes tiles of 128 x 256 or 256 x 128 one after the other; of those that would be the "
              "last, partly filled waves each block takes an equal share of k, and the sums of a tile's parts "
              "are added in order.";
  rung.gain = "At 4096 and 8192 cubed the last wave is nine tenths and half full, which costs 3 %; products of few "
              "tiles keep every SM busy.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.contender = true;
  rung.kernel = thread_fed_128x256().kernel;
  rung.launch = &launch_equal_shares;
  rung.takes_own_path = [](const Problem& p) { return fed_choice_of(p).has_value(); };
  rung.workspace_bytes = &equal_shares_bytes;
  return rung;
}

}  // namespace fathom::gemm::fp32
