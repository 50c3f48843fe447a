#pragma once

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

/// What a feeder may need beside the operands: bytes of workspace for copies, and whether it takes the
/// product's sizes.
template <class Tile>
std::size_t copy_bytes(EngineFeeder*, const Problem& p) {
  return EngineOperands::copy_bytes(p, engine_majors);
}
template <class Tile>
std::size_t copy_bytes(ThreadFeeder*, const Problem&) {
  return 0;
}
template <class Tile>
bool takes_sizes(EngineFeeder*, const Problem&) {
  return true;
}
template <class Tile>
bool takes_sizes(ThreadFeeder*, const Problem& p) {
  return p.n >= Tile::m && p.m >= Tile::n;
}

template <class Tile>
EngineFeeder::Sources sources_of(EngineFeeder*, const Arguments& arguments, std::byte* copies,
                                 cudaStream_t stream) {
  const EngineOperands x = EngineOperands::prepared(arguments, engine_majors, copies, stream);
  return {plain_tensor_map(x.a.data, x.a.element, x.a.outer, x.a.k, x.a.stride, Tile::m, Tile::k),
          plain_tensor_map(x.b.data, x.b.element, x.b.outer, x.b.k, x.b.stride, Tile::n, Tile::k)};
}
template <class Tile>
ThreadFeeder::Sources sources_of(ThreadFeeder*, const Arguments& arguments, std::byte*, cudaStream_t) {
  const auto p = row_major<float>(arguments);
  return {along_of(p.a.column_stride, p.a.row_stride, p.m), along_of(p.b.row_stride, p.b.column_stride, p.n)};
}

template <class Tile>
WorkShares shares_of(const Problem& p, int sms, Sharing sharing) {
  const TileGrid tiles(static_cast<int>(p.n), static_cast<int>(p.m), Tile::m, Tile::n);
  const int depth = static_cast<int>(ceil_div(p.k, Tile::k)), count = static_cast<int>(tiles.blocks());
  return sharing == Sharing::none ? WorkShares{count, depth, 0} : equal_shares(count, depth, sms);
}

/// Copies start on 256 bytes.
constexpr std::size_t on_256(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const Problem& p, int sms, Sharing sharing) {
  if (p.alpha == 0 || shares_of<Tile>(p, sms, sharing).shared == 0) return 0;
  return static_cast<std::size_t>(sms) * (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

/// Workspace of a launch: the shared sums, then copies of operands.
template <class Tile, class Feeder>
std::size_t fed_workspace_bytes(const Problem& p, int sms, Sharing sharing) {
  return on_256(shared_sums_bytes<Tile>(p, sms, sharing)) + copy_bytes<Tile>(static_cast<Feeder*>(nullptr), p);
}

template <class Tile, class Feeder>
void launch_fed(const Arguments& arguments, const Workspace& workspace, Sharing sharing,
                cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  FedProduct<Feeder> p{};
  p.product = row_major<float>(arguments);
  const TileGrid tiles(p.product.m, p.product.n, Tile::m, Tile::n);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(arguments.problem, workspace.sms, sharing);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(arguments.problem, workspace.sms, sharing);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  p.sources = sources_of<Tile>(static_cast<Feeder*>(nullptr), arguments, workspace.data + on_256(sums_bytes),
                               stream);
  const auto kernel = fed_product<Tile, Feeder>;
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes));
  const int blocks = sharing == Sharing::none ? p.shares.tiles : workspace.sms;
  kernel<<<blocks, Tile::threads, Tile::shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile, class Feeder>
FedChoice fed_choice() {
  return {Tile::m,
          Tile::n,
          [](const Problem& p) { return takes_sizes<Tile>(static_cast<Feeder*>(nullptr), p); },
          [](const Problem& p) { return copy_bytes<Tile>(static_cast<Feeder*>(nullptr), p) != 0; },
          &fed_workspace_bytes<Tile, Feeder>,
          &launch_fed<Tile, Feeder>,
          {reinterpret_cast<const void*>(&fed_product<Tile, Feeder>), Tile::threads, Tile::shared_bytes,
           Tile::m, Tile::n, Tile::k}};
}

}  // namespace fathom::gemm::fp32
