#pragma once

#include <algorithm>

#include "gemm/blocks/engine_product.cuh"
#include "gemm/blocks/tensor_map.h"
#include "gemm/engine_operands.h"
#include "gemm/fp32/fed_product.cuh"
#include "gemm/fp32/fed_tiles.h"
#include "harness/cuda_check.h"

// From a product's arguments to the launch of the warp-specialised kernel. Host code.

namespace fathom::gemm::fp32 {

/// The layout that a tile takes: others are copied first.
template <class Tile>
inline constexpr MajorsTaken majors_of{Tile::a_major, Major::outer};

/// The map of an operand for a side of `outer` of a tile.
inline CUtensorMap fed_map(const EngineOperand& x, int outer, int k) {
  return x.major == Major::k ? tensor_map(x.data, x.element, x.k, x.outer, x.stride, outer)
                             : plain_tensor_map(x.data, x.element, x.outer, x.k, x.stride, outer, k);
}

template <class Tile>
WorkShares shares_of(const Problem& p, int sms, Sharing sharing) {
  const int tiles = static_cast<int>(ceil_div(p.n, Tile::m) * ceil_div(p.m, Tile::n));
  const int depth = static_cast<int>(ceil_div(p.k, Tile::k));
  return sharing == Sharing::none ? WorkShares{tiles, depth, 0} : equal_shares(tiles, depth, sms);
}

/// Copies start on 256 bytes.
constexpr std::size_t on_256(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const Problem& p, int sms, Sharing sharing) {
  if (p.alpha == 0 || shares_of<Tile>(p, sms, sharing).shared == 0) return 0;
  return static_cast<std::size_t>(sms) * (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

/// Workspace of a launch: the shared sums, then copies of operands that lie in no way that is taken.
template <class Tile>
std::size_t fed_workspace_bytes(const Problem& p, int sms, Sharing sharing) {
  return on_256(shared_sums_bytes<Tile>(p, sms, sharing)) +
         EngineOperands::copy_bytes(p, majors_of<Tile>);
}

template <class Tile>
void launch_fed(const Arguments& arguments, const Workspace& workspace, Sharing sharing,
                cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const Problem& problem = arguments.problem;
  FedProduct p{};
  p.product = row_major<float>(arguments);
  const TileGrid tiles(p.product.m, p.product.n, Tile::m, Tile::n);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(problem, workspace.sms, sharing);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(problem, workspace.sms, sharing);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  const EngineOperands operands = EngineOperands::prepared(
      arguments, majors_of<Tile>, workspace.data + on_256(sums_bytes), stream);
  p.map_a = fed_map(operands.a, Tile::m, Tile::k);
  p.map_b = fed_map(operands.b, Tile::n, Tile::k);
  FATHOM_CUDA(cudaFuncSetAttribute(fed_product<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   Tile::shared_bytes));
  const int blocks = sharing == Sharing::none ? p.shares.tiles : workspace.sms;
  fed_product<Tile><<<blocks, Tile::threads, Tile::shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile>
FedChoice fed_choice() {
  return {Tile::m,
          Tile::n,
          majors_of<Tile>,
          &fed_workspace_bytes<Tile>,
          &launch_fed<Tile>,
          {reinterpret_cast<const void*>(&fed_product<Tile>), Tile::threads, Tile::shared_bytes, Tile::m,
           Tile::n, Tile::k}};
}

}  // namespace fathom::gemm::fp32
