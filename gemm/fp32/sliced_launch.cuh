#pragma once

#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tma_product.cuh"
#include "gemm/fp32/sliced_product.cuh"
#include "gemm/tma_operands.h"
#include "harness/cuda_check.h"

namespace fathom::gemm::fp32 {

/// The layout that sliced tiles take: others are copied first.
inline constexpr MajorsTaken sliced_majors{Major::k, Major::outer};

/// Launches a product that is at most Tile::n wide, in row-major terms, and has elements and a
/// depth.
template <class Tile>
void launch_sliced(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const TmaOperands operands =
      TmaOperands::prepared(arguments, sliced_majors, workspace.data, stream);
  SlicedProduct p{};
  p.product = row_major<float>(arguments);
  p.depth = static_cast<int>(ceil_div(p.product.k, Tile::k));
  const TmaOperand &a = operands.a, &b = operands.b;
  p.map_a = tensor_map(a.data, a.element, a.k, a.outer, a.stride, Tile::m);
  p.map_b = plain_tensor_map(b.data, b.element, b.outer, b.k, b.stride, Tile::n, Tile::k);
  FATHOM_CUDA(cudaFuncSetAttribute(
      sliced_product<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes));
  const auto blocks = static_cast<unsigned>(ceil_div(p.product.m, Tile::m));
  sliced_product<Tile><<<blocks, Tile::threads, Tile::shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::gemm::fp32
