// As many blocks as the GPU has SMs, and all have the same to do; operands along k are transposed on their way
// into a stage.

#include <optional>

#include "gemm/fp32/fed_tiles.h"
#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tilings.h"

namespace fathom::gemm::fp32 {

namespace {

/// What a copied byte must be worth: measured on an H200, copying it takes as long as some 30 FLOP of the
/// product, and feeding by threads costs a twentieth of all. That is 600, and neither is exact.
constexpr double flops_a_copied_byte = 700;

/// Of the tiles that transpose what lies along k, the one that lies best; null where lines do not start on 16
/// bytes or no operand lies along k.
std::optional<FedChoice> transposing_for(const Problem& p) {
  std::optional<FedChoice> best;
  for (const FedChoice& tile : {transposing_fed_a(), transposing_fed_b(), transposing_fed_both()}) {
    if (tile.takes(p) && (!best || tile.placement(p) < best->placement(p))) best = tile;
  }
  return best;
}

/// How the product is fed; null where it is smaller than a tile.
std::optional<FedChoice> choice_for(const Problem& p) {
  const FedChoice by_engine = engine_fed_128x256(), by_threads = thread_fed_128x256();
  if (!by_threads.takes(p)) return std::nullopt;
  if (const auto transposing = transposing_for(p)) return transposing;
  const auto copied = static_cast<double>(by_engine.copy_bytes(p));
  return p.flops() >= flops_a_copied_byte * copied ? by_engine : by_threads;
}

}  // namespace

void launch_equal_shares(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (const auto tile = choice_for(arguments.problem))
    return tile->launch(arguments, workspace, Sharing::equal, stream);
  launch_planned(arguments, workspace, stream);
}

std::size_t equal_shares_bytes(const Problem& p, int sms) {
  if (const auto tile = choice_for(p)) return tile->workspace_bytes(p, sms, Sharing::equal);
  return bytes_of_parts(p, make_plan(p, sms).parts);
}

RungKernel equal_shares_kernel_for(const Problem& p, int sms) {
  if (const auto tile = choice_for(p)) {
    RungKernel kernel = tile->kernel(p, sms, Sharing::equal);
    kernel.parts = 0;
    return kernel;
  }
  const Plan plan = make_plan(p, sms);
  if (plan.tiling == nullptr) return {};
  RungKernel kernel = plan.tiling->kernel;
  kernel.parts = plan.parts;
  return kernel;
}

RungKernel equal_shares_kernel() {
  return equal_shares_kernel_for(make_problem(Class::fp32, 4096, 4096, 4096), 1);
}

Rung equal_shares_of_k() {
  Rung rung;
  rung.id = "fp32/25_equal_shares";
  rung.of = Class::fp32;
  rung.idea = "A block an SM takes tiles one after the other; of those that would be the last, partly "
              "filled waves each block takes an equal share of k, and the sums of a tile's parts are added in order, "
              "of few tiles by all blocks that end in one together; "
              "operands along k come by the copy engine too, and four warps transpose them within shared memory.";
  rung.gain = "At 4096 and 8192 cubed the last wave is nine tenths and half full, which costs 3 %; products of few "
              "tiles keep every SM busy. Two instructions transpose 128 floats, so that products whose lines start on "
              "16 bytes need neither a copy of an operand nor threads that copy each element.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.kernel = equal_shares_kernel();
  rung.kernel_for = &equal_shares_kernel_for;
  rung.launch = &launch_equal_shares;
  rung.takes_own_path = [](const Problem& p) { return choice_for(p).has_value(); };
  rung.workspace_bytes = &equal_shares_bytes;
  return rung;
}

}  // namespace fathom::gemm::fp32
