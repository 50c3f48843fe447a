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
WorkShares shares_of(const Problem& p, int sms, Sharing sharing, bool swapped) {
  const TileGrid tiles(static_cast<int>(swapped ? p.m : p.n), static_cast<int>(swapped ? p.n : p.m), Tile::m,
                       Tile::n);
  const int depth = static_cast<int>(ceil_div(p.k, Tile::k)), count = static_cast<int>(tiles.blocks());
  return sharing == Sharing::none ? WorkShares{count, depth, 0} : equal_shares(count, depth, sms);
}

/// Copies start on 256 bytes.
constexpr std::size_t on_256(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const WorkShares& shares, int sms) {
  if (shares.shared == 0) return 0;
  return static_cast<std::size_t>(sms) * (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

/// Workspace of a launch: the shared sums, then copies of operands.
template <class Tile, class Feeder>
std::size_t fed_workspace_bytes(const Problem& p, int sms, Sharing sharing) {
  const auto placement = placement_of<Tile, Feeder>(p);
  if (!placement || p.alpha == 0 || p.k == 0) return 0;
  return on_256(shared_sums_bytes<Tile>(shares_of<Tile>(p, sms, sharing, placement->swapped), sms)) +
         FeederHost<Feeder>::copy_bytes(p);
}

template <class Tile, class Feeder>
void launch_fed(const Arguments& arguments, const Workspace& workspace, Sharing sharing,
                cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const bool swapped = placement_of<Tile, Feeder>(arguments.problem).value().swapped;
  FedProduct<Feeder> p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  const TileGrid tiles(p.product.m, p.product.n, Tile::m, Tile::n);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = !swapped && p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(arguments.problem, workspace.sms, sharing, swapped);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(p.shares, workspace.sms);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  p.sources = FeederHost<Feeder>::template sources<Tile>(arguments, p.product, swapped,
                                                         workspace.data + on_256(sums_bytes), stream);
  const auto kernel = fed_product<Tile, Feeder>;
  constexpr int shared_bytes = fed_shared_bytes<Tile, Feeder>();
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const int blocks = sharing == Sharing::none ? p.shares.tiles : workspace.sms;
  kernel<<<blocks, Tile::threads, shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
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
          {reinterpret_cast<const void*>(&fed_product<Tile, Feeder>), Tile::threads,
           fed_shared_bytes<Tile, Feeder>(), Tile::m, Tile::n, Tile::k}};
}

}  // namespace fathom::gemm::fp32
