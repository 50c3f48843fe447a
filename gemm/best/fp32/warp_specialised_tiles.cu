#include "gemm/best/fp32/warp_specialised_tiles.h"

#include <algorithm>
#include <utility>

#include "gemm/best/fp32/warp_specialised.cuh"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/operands.cuh"
#include "harness/cuda_check.h"

// From a product's arguments to the launch of the warp-specialised kernel, and its tiles.

namespace fathom::gemm::fp32 {
namespace {

/// How a tile lies on a product's C, row-major or, `swapped`, as BLAS states it. `first`: elements
/// of the tiles that cover C; `second`: whether it is swapped. The less the better: tiles that
/// reach less beyond C, and of two that reach as far those whose long side lies along C's columns,
/// where they store 16 bytes at once (on an H200 at 4096³ NN 1.055 times cuBLAS instead of 1.030).
using TilePlacement = std::pair<std::int64_t, bool>;

/// All of them are as large.
using AnyTile = WarpSpecialisedTile<false, false, Cut::stages>;

TilePlacement placement_of(const Problem& p) {
  const auto lying = [](std::int64_t m, std::int64_t n, bool swapped) {
    return TilePlacement{
        ceil_div(m, AnyTile::m) * AnyTile::m * ceil_div(n, AnyTile::n) * AnyTile::n, swapped};
  };
  return std::min(lying(p.n, p.m, false), lying(p.m, p.n, true));
}

TileGrid tiles_of(const Problem& p, bool swapped) {
  return {static_cast<int>(swapped ? p.m : p.n), static_cast<int>(swapped ? p.n : p.m), AnyTile::m,
          AnyTile::n};
}

/// How a tile takes operands.
template <class Tile>
constexpr MajorsTaken majors_of{Tile::transposes_a ? Major::k : Major::outer,
                                Tile::transposes_b ? Major::k : Major::outer};

template <class Tile>
void launch(const Arguments& arguments, const Workspace& workspace, bool swapped,
            const StreamKShares& shares, std::size_t sums_bytes, cudaStream_t stream) {
  WarpSpecialisedProduct p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  const TileGrid tiles = tiles_of(arguments.problem, swapped);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = !swapped && p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares;
  if (shares.shared != 0) {
    const std::size_t flags = workspace.sms * partials_per_block<Tile> * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  const TmaOperands x = TmaOperands::prepared(arguments, swapped, majors_of<Tile>,
                                              workspace.data + workspace_part(sums_bytes), stream);
  p.map_a = box_map(x.a, Tile::m, Tile::k);
  p.map_b = box_map(x.b, Tile::n, Tile::k);
  // Blocks that share tiles wait for each other's sums: all of them must be resident at once, one
  // an SM, so that no other kernel that keeps its SMs may run beside this one.
  launch_cluster(&warp_specialised_product<Tile>,
                 {workspace.sms, Tile::threads, warp_specialised_shared_bytes<Tile>(), 1, stream},
                 p);
}

template <class Tile>
RungPlan plan_of(const Problem& p, int sms, bool swapped) {
  const RungKernel kernel{
      .function = reinterpret_cast<const void*>(&warp_specialised_product<Tile>),
      .threads = Tile::threads,
      .dynamic_shared_bytes = warp_specialised_shared_bytes<Tile>(),
      .tile_m = Tile::m,
      .tile_n = Tile::n,
      .tile_k = Tile::k,
      .parts = 0};
  const StreamKShares shares = stream_k_shares(static_cast<int>(tiles_of(p, swapped).blocks()),
                                               static_cast<int>(ceil_div(p.k, Tile::step)), sms);
  // The sums that blocks leave each other, the words that say so, then copies of operands.
  const std::size_t sums_bytes = shares.shared == 0
                                     ? 0
                                     : static_cast<std::size_t>(sms) * partials_per_block<Tile> *
                                           (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
  return {[=](const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
            launch<Tile>(arguments, workspace, swapped, shares, sums_bytes, stream);
          },
          workspace_part(sums_bytes) + TmaOperands::copy_bytes(p, swapped, majors_of<Tile>),
          swapped ? kernel.transposed() : kernel};
}

/// With shares that end at bodies where two SMs and more share a tile and there is a body for each:
/// there, who has a tile's first stage would else add for long while others have nothing to do.
template <bool a, bool b>
RungPlan plan_with_cut(const Problem& p, int sms, bool swapped) {
  const std::int64_t tiles = tiles_of(p, swapped).blocks();
  if (2 * tiles <= sms && tiles * ceil_div(p.k, AnyTile::body) >= sms)
    return plan_of<WarpSpecialisedTile<a, b, Cut::bodies>>(p, sms, swapped);
  return plan_of<WarpSpecialisedTile<a, b, Cut::stages>>(p, sms, swapped);
}

}  // namespace

std::int64_t covered_by_tiles(const Problem& problem) { return placement_of(problem).first; }

RungPlan warp_specialised_plan(const Problem& p, int sms) {
  const bool swapped = placement_of(p).second;
  const TmaOperands x = TmaOperands::of({p}, swapped);
  const bool aligned = TmaOperands::copy_bytes(p, swapped, {}) == 0;
  const bool a = aligned && x.a.major == Major::k, b = aligned && x.b.major == Major::k;
  if (a && b) return plan_with_cut<true, true>(p, sms, swapped);
  if (a) return plan_with_cut<true, false>(p, sms, swapped);
  if (b) return plan_with_cut<false, true>(p, sms, swapped);
  return plan_with_cut<false, false>(p, sms, swapped);
}

}  // namespace fathom::gemm::fp32
