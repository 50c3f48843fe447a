#pragma once

#include <optional>

#include "gemm/blocks/engine_product.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/engine_operands.h"
#include "gemm/fp32/fed_product.cuh"
#include "gemm/fp32/fed_tiles.h"
#include "gemm/fp32/tilings.h"
#include "harness/cuda_check.h"

// From a product's arguments to the launch of the warp-specialised kernel. Host code.

namespace fathom::gemm::fp32 {

/// How the copy engine takes operands; others are copied first.
inline constexpr MajorsTaken engine_majors{Major::outer, Major::outer};

/// What a feeder needs of a launch. The product is taken row-major or, `swapped`, as BLAS states it: then C
/// lies along its columns, and the tile, wider than high, along the other side.
template <class Feeder>
struct FeederHost;

/// Of boxes of `k` of k by `side`, in shared memory contiguous as the operand is.
inline CUtensorMap box_map(const EngineOperand& o, int side, int k) {
  if (o.major == Major::k) return plain_tensor_map(o.data, o.element, o.k, o.outer, o.stride, k, side);
  return plain_tensor_map(o.data, o.element, o.outer, o.k, o.stride, side, k);
}

template <>
struct FeederHost<EngineFeeder> {
  static bool takes(const Problem&, int, int, bool) { return true; }
  static std::size_t copy_bytes(const Problem& p) { return EngineOperands::copy_bytes(p, engine_majors); }
  template <class Tile>
  static EngineFeeder::Sources sources(const Arguments& arguments, const Product<float>&, bool swapped,
                                       std::byte* copies, cudaStream_t stream) {
    const EngineOperands x = EngineOperands::prepared(arguments, engine_majors, copies, stream);
    return {box_map(swapped ? x.b : x.a, Tile::m, Tile::k), box_map(swapped ? x.a : x.b, Tile::n, Tile::k)};
  }
};

template <bool TransposeA, bool TransposeB>
struct FeederHost<TransposingFeeder<TransposeA, TransposeB>> {
  using Feeder = TransposingFeeder<TransposeA, TransposeB>;
  static bool takes(const Problem& p, int, int, bool swapped) {
    constexpr Major a = TransposeA ? Major::k : Major::outer, b = TransposeB ? Major::k : Major::outer;
    return EngineOperands::copy_bytes(p, swapped ? MajorsTaken{b, a} : MajorsTaken{a, b}) == 0;
  }
  static std::size_t copy_bytes(const Problem&) { return 0; }
  template <class Tile>
  static typename Feeder::Sources sources(const Arguments& arguments, const Product<float>&, bool swapped,
                                          std::byte*, cudaStream_t) {
    const EngineOperands x = EngineOperands::of(arguments);
    return {box_map(swapped ? x.b : x.a, Tile::m, Tile::k), box_map(swapped ? x.a : x.b, Tile::n, Tile::k)};
  }
};

template <>
struct FeederHost<ThreadFeeder> {
  static bool takes(const Problem& p, int m, int n, bool swapped) {
    return swapped ? p.m >= m && p.n >= n : p.n >= m && p.m >= n;
  }
  static std::size_t copy_bytes(const Problem&) { return 0; }
  template <class Tile>
  static ThreadFeeder::Sources sources(const Arguments&, const Product<float>& p, bool, std::byte*,
                                       cudaStream_t) {
    return {along_of(p.a.column_stride, p.a.row_stride, p.m), along_of(p.b.row_stride, p.b.column_stride, p.n)};
  }
};

/// The best way for the tile to lie, of those that the feeder takes; nothing if there is none.
template <class Tile, class Feeder>
std::optional<FedPlacement> placement_of(const Problem& p) {
  std::optional<FedPlacement> best;
  for (const bool swapped : {false, true}) {
    if (!FeederHost<Feeder>::takes(p, Tile::m, Tile::n, swapped)) continue;
    const std::int64_t m = swapped ? p.m : p.n, n = swapped ? p.n : p.m;
    const FedPlacement placement{ceil_div(m, Tile::m) * Tile::m * ceil_div(n, Tile::n) * Tile::n, swapped};
    if (!best || placement < *best) best = placement;
  }
  return best;
}

template <class Tile>
int tiles_of(const Problem& p, bool swapped) {
  const TileGrid tiles(static_cast<int>(swapped ? p.m : p.n), static_cast<int>(swapped ? p.n : p.m), Tile::m,
                       Tile::n);
  return static_cast<int>(tiles.blocks());
}

template <class Tile>
WorkShares shares_of(const Problem& p, int sms, Sharing sharing, bool swapped) {
  const int depth = static_cast<int>(ceil_div(p.k, Tile::step)), count = tiles_of<Tile>(p, swapped);
  return sharing == Sharing::none ? WorkShares{count, depth, 0} : equal_shares(count, depth, sms);
}

/// Where shares end: at bodies where two SMs and more share a tile, and there is a body for each. There half a stage is
/// much of a share, and who has a tile's first stage would add for long while the others have nothing to do.
template <class Tile>
Cut cut_of(const Problem& p, int sms, Sharing sharing, bool swapped) {
  const std::int64_t tiles = tiles_of<Tile>(p, swapped);
  const bool few = sharing == Sharing::equal && 2 * tiles <= sms && tiles * ceil_div(p.k, Tile::body) >= sms;
  return few ? Cut::bodies : Cut::stages;
}

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const WorkShares& shares, int sms) {
  if (shares.shared == 0) return 0;
  return static_cast<std::size_t>(sms) * parts_left<Tile> * (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

/// Calls `with` with the tile, cut as it is for the product.
template <class Tile, class Feeder, class With>
auto with_cut(const Problem& p, int sms, Sharing sharing, const With& with) {
  const bool swapped = placement_of<Tile, Feeder>(p).value().swapped;
  if constexpr (Feeder::cuts_stages) {
    if (cut_of<Tile>(p, sms, sharing, swapped) == Cut::bodies)
      return with(typename Tile::template WithCut<Cut::bodies>{}, swapped);
  }
  return with(Tile{}, swapped);
}

/// Workspace of a launch: the shared sums, then copies of operands.
template <class Tile, class Feeder>
std::size_t fed_workspace_bytes(const Problem& p, int sms, Sharing sharing) {
  if (!placement_of<Tile, Feeder>(p) || p.alpha == 0 || p.k == 0) return 0;
  const std::size_t sums = with_cut<Tile, Feeder>(p, sms, sharing, [&]<class CutTile>(CutTile, bool swapped) {
    return shared_sums_bytes<CutTile>(shares_of<CutTile>(p, sms, sharing, swapped), sms);
  });
  return workspace_part(sums) + FeederHost<Feeder>::copy_bytes(p);
}

template <class Tile, class Feeder>
void launch_cut(const Arguments& arguments, const Workspace& workspace, Sharing sharing, bool swapped,
                cudaStream_t stream) {
  FedProduct<Feeder> p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  const TileGrid tiles(p.product.m, p.product.n, Tile::m, Tile::n);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = !swapped && p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(arguments.problem, workspace.sms, sharing, swapped);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(p.shares, workspace.sms);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * parts_left<Tile> * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  p.sources = FeederHost<Feeder>::template sources<Tile>(arguments, p.product, swapped,
                                                         workspace.data + workspace_part(sums_bytes),
                                                         stream);
  const auto kernel = fed_product<Tile, Feeder>;
  constexpr int shared_bytes = fed_shared_bytes<Tile, Feeder>();
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  // Blocks that share tiles wait for each other's sums: all of them must be resident at once, one
  // an SM, so that no other kernel that keeps its SMs may run beside this one.
  const int blocks = sharing == Sharing::none ? p.shares.tiles : workspace.sms;
  kernel<<<blocks, Tile::threads, shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile, class Feeder>
void launch_fed(const Arguments& arguments, const Workspace& workspace, Sharing sharing,
                cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  with_cut<Tile, Feeder>(arguments.problem, workspace.sms, sharing, [&]<class CutTile>(CutTile, bool swapped) {
    launch_cut<CutTile, Feeder>(arguments, workspace, sharing, swapped, stream);
  });
}

template <class Tile, class Feeder>
RungKernel fed_kernel() {
  return {reinterpret_cast<const void*>(&fed_product<Tile, Feeder>), Tile::threads,
          fed_shared_bytes<Tile, Feeder>(), Tile::m, Tile::n, Tile::k};
}

template <class Tile, class Feeder>
FedChoice fed_choice() {
  return {Tile::m,
          Tile::n,
          [](const Problem& p) { return placement_of<Tile, Feeder>(p).has_value(); },
          [](const Problem& p) { return placement_of<Tile, Feeder>(p).value(); },
          &FeederHost<Feeder>::copy_bytes,
          &fed_workspace_bytes<Tile, Feeder>,
          &launch_fed<Tile, Feeder>,
          [](const Problem& p, int sms, Sharing sharing) {
            return with_cut<Tile, Feeder>(p, sms, sharing, []<class CutTile>(CutTile, bool swapped) {
              const RungKernel kernel = fed_kernel<CutTile, Feeder>();
              return swapped ? kernel.transposed() : kernel;
            });
          }};
}

}  // namespace fathom::gemm::fp32
