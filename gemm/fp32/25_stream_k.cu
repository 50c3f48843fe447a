// As many blocks as the GPU has SMs, and all have the same to do; operands along k are transposed
// on their way into a stage.

#include <optional>

#include "gemm/fp32/rungs.h"
#include "gemm/fp32/tilings.h"
#include "gemm/fp32/warp_specialised_tiles.h"

namespace fathom::gemm::fp32 {

namespace {

/// What a copied byte must be worth: measured on an H200, copying it takes as long as some 30 FLOP
/// of the product, and filling by threads costs a twentieth of all. That is 600, and neither is
/// exact.
constexpr double flops_a_copied_byte = 700;

/// Of the tiles that transpose what lies along k, the one that lies best; null where lines do not
/// start on 16 bytes or no operand lies along k.
std::optional<WarpSpecialisedChoice> transposing_for(const Problem& p) {
  std::optional<WarpSpecialisedChoice> best;
  for (const WarpSpecialisedChoice& tile :
       {transposing_producer_a(), transposing_producer_b(), transposing_producer_both()}) {
    if (tile.takes(p) && (!best || tile.placement(p) < best->placement(p))) best = tile;
  }
  return best;
}

/// Who fills the stages; null where it is smaller than a tile.
std::optional<WarpSpecialisedChoice> choice_for(const Problem& p) {
  const WarpSpecialisedChoice by_tma = tma_producer_128x256(),
                              by_threads = thread_producer_128x256();
  if (!by_threads.takes(p)) return std::nullopt;
  if (const auto transposing = transposing_for(p)) return transposing;
  const auto copied = static_cast<double>(by_tma.copy_bytes(p));
  return p.flops() >= flops_a_copied_byte * copied ? by_tma : by_threads;
}

}  // namespace

void launch_stream_k(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (const auto tile = choice_for(arguments.problem))
    return tile->launch(arguments, workspace, Sharing::stream_k, stream);
  launch_planned(arguments, workspace, stream);
}

std::size_t stream_k_bytes(const Problem& p, int sms) {
  if (const auto tile = choice_for(p)) return tile->workspace_bytes(p, sms, Sharing::stream_k);
  return bytes_of_parts(p, make_plan(p, sms).parts);
}

RungKernel stream_k_kernel_for(const Problem& p, int sms) {
  if (const auto tile = choice_for(p)) {
    RungKernel kernel = tile->kernel(p, sms, Sharing::stream_k);
    kernel.parts = 0;
    return kernel;
  }
  const Plan plan = make_plan(p, sms);
  if (plan.tiling == nullptr) return {};
  RungKernel kernel = plan.tiling->kernel;
  kernel.parts = plan.parts;
  return kernel;
}

RungKernel stream_k_kernel() {
  return stream_k_kernel_for(make_problem(Class::fp32, 4096, 4096, 4096), 1);
}

Rung stream_k() {
  Rung rung;
  rung.id = "fp32/25_stream_k";
  rung.of = Class::fp32;
  rung.idea =
      "A block an SM takes tiles one after the other; of those that would be the last, partly "
      "filled waves each block takes an equal share of k (stream-K), and the sums of a tile's "
      "parts are added in order, of few tiles by all blocks that end in one together; operands "
      "along k come by TMA too, and four warps transpose them within shared memory.";
  rung.gain =
      "At 4096 and 8192 cubed the last wave is nine tenths and half full, which costs 3 %; "
      "products of few tiles keep every SM busy. Two instructions transpose 128 floats, so that "
      "products whose lines start on 16 bytes need neither a copy of an operand nor threads that "
      "copy each element.";
  rung.capability = 90;
  rung.exact_capability = true;
  rung.kernel = stream_k_kernel();
  rung.kernel_for = &stream_k_kernel_for;
  rung.launch = &launch_stream_k;
  rung.takes_own_path = [](const Problem& p) { return choice_for(p).has_value(); };
  rung.workspace_bytes = &stream_k_bytes;
  return rung;
}

}  // namespace fathom::gemm::fp32
