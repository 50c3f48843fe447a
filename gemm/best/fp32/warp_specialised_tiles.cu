#include <optional>

#include "gemm/best/fp32/warp_specialised.cuh"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/tensor_map.h"
#include "harness/cuda_check.h"

// From a product's arguments to the launch of the warp-specialised kernel, and its tiles.

namespace fathom::gemm::fp32 {
namespace {

/// How a producer takes operands. The product is taken row-major or, `swapped`, as BLAS states it:
/// then C lies along its columns, and the tile, wider than high, along the other side.
template <class Producer>
MajorsTaken majors_of(bool swapped) {
  constexpr Major a = Producer::transposes_a ? Major::k : Major::outer,
                  b = Producer::transposes_b ? Major::k : Major::outer;
  return swapped ? MajorsTaken{b, a} : MajorsTaken{a, b};
}

template <class Producer>
std::size_t copied_bytes(const Problem& p, bool swapped) {
  return TmaOperands::copy_bytes(p, majors_of<Producer>(swapped));
}

/// For boxes of `k` of k by `side`, in shared memory contiguous as the operand is.
CUtensorMap box_map(const TmaOperand& o, int side, int k) {
  if (o.major == Major::k)
    return plain_tensor_map(o.data, o.element, o.k, o.outer, o.stride, k, side);
  return plain_tensor_map(o.data, o.element, o.outer, o.k, o.stride, side, k);
}

/// The best way for the tile to lie, of those that the producer takes; nothing if there is none.
/// Before one that transposes no operand is copied.
template <class Tile, class Producer>
std::optional<TilePlacement> placement_of(const Problem& p) {
  constexpr bool copies = !Producer::transposes_a && !Producer::transposes_b;
  std::optional<TilePlacement> best;
  for (const bool swapped : {false, true}) {
    if (!copies && copied_bytes<Producer>(p, swapped) != 0) continue;
    const std::int64_t m = swapped ? p.m : p.n, n = swapped ? p.n : p.m;
    const TilePlacement placement{ceil_div(m, Tile::m) * Tile::m * ceil_div(n, Tile::n) * Tile::n,
                                  swapped};
    if (!best || placement < *best) best = placement;
  }
  return best;
}

template <class Tile>
TileGrid tiles_of(const Problem& p, bool swapped) {
  return {static_cast<int>(swapped ? p.m : p.n), static_cast<int>(swapped ? p.n : p.m), Tile::m,
          Tile::n};
}

template <class Tile>
StreamKShares shares_of(const Problem& p, int sms, bool swapped) {
  return stream_k_shares(static_cast<int>(tiles_of<Tile>(p, swapped).blocks()),
                         static_cast<int>(ceil_div(p.k, Tile::step)), sms);
}

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const StreamKShares& shares, int sms) {
  if (shares.shared == 0) return 0;
  return static_cast<std::size_t>(sms) * partials_per_block<Tile> *
         (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

template <class Tile, class Producer>
void launch(const Arguments& arguments, const Workspace& workspace, bool swapped,
            cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  WarpSpecialisedProduct p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  const TileGrid tiles = tiles_of<Tile>(arguments.problem, swapped);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = !swapped && p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(arguments.problem, workspace.sms, swapped);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(p.shares, workspace.sms);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * partials_per_block<Tile> * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  const TmaOperands x = TmaOperands::prepared(arguments, majors_of<Producer>(swapped),
                                              workspace.data + workspace_part(sums_bytes), stream);
  p.sources = {box_map(swapped ? x.b : x.a, Tile::m, Tile::k),
               box_map(swapped ? x.a : x.b, Tile::n, Tile::k)};
  const auto kernel = warp_specialised_product<Tile, Producer>;
  constexpr int shared_bytes = warp_specialised_shared_bytes<Tile, Producer>();
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  // Blocks that share tiles wait for each other's sums: all of them must be resident at once, one
  // an SM, so that no other kernel that keeps its SMs may run beside this one.
  kernel<<<workspace.sms, Tile::threads, shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile, class Producer>
RungPlan plan_of(const Problem& p, int sms, bool swapped) {
  const RungKernel kernel{
      .function = reinterpret_cast<const void*>(&warp_specialised_product<Tile, Producer>),
      .threads = Tile::threads,
      .dynamic_shared_bytes = warp_specialised_shared_bytes<Tile, Producer>(),
      .tile_m = Tile::m,
      .tile_n = Tile::n,
      .tile_k = Tile::k,
      .parts = 0};
  RungPlan plan{
      [swapped](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
        launch<Tile, Producer>(arguments, workspace, swapped, stream);
      },
      0, swapped ? kernel.transposed() : kernel};
  // The shared sums, then copies of operands.
  if (p.alpha != 0 && p.k != 0)
    plan.workspace_bytes =
        workspace_part(shared_sums_bytes<Tile>(shares_of<Tile>(p, sms, swapped), sms)) +
        copied_bytes<Producer>(p, swapped);
  return plan;
}

/// With shares that end at bodies where two SMs and more share a tile, and there is a body for
/// each. There half a stage is much of a share, and who has a tile's first stage would add for long
/// while the others have nothing to do.
template <class Tile, class Producer>
RungPlan plan_with_cut(const Problem& p, int sms) {
  const bool swapped = placement_of<Tile, Producer>(p).value().swapped;
  const std::int64_t tiles = tiles_of<Tile>(p, swapped).blocks();
  if (2 * tiles <= sms && tiles * ceil_div(p.k, Tile::body) >= sms)
    return plan_of<typename Tile::template WithCut<Cut::bodies>, Producer>(p, sms, swapped);
  return plan_of<Tile, Producer>(p, sms, swapped);
}

template <class Producer, int Stages>
WarpSpecialisedChoice filled_by() {
  using Tile = WarpSpecialisedTile<Stages, Producer::pad_a, Producer::pad_b>;
  return {[](const Problem& p) { return placement_of<Tile, Producer>(p).has_value(); },
          [](const Problem& p) { return placement_of<Tile, Producer>(p).value(); },
          &plan_with_cut<Tile, Producer>};
}

}  // namespace

WarpSpecialisedChoice tma_producer_128x256() { return filled_by<TmaProducer, 4>(); }
WarpSpecialisedChoice transposing_producer_a() {
  return filled_by<TransposingProducer<true, false>, 4>();
}
WarpSpecialisedChoice transposing_producer_b() {
  return filled_by<TransposingProducer<false, true>, 4>();
}
/// Both boxes beside the ring leave it room for three stages.
WarpSpecialisedChoice transposing_producer_both() {
  return filled_by<TransposingProducer<true, true>, 3>();
}

}  // namespace fathom::gemm::fp32
