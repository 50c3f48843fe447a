#pragma once

#include "gemm/bench/rung.h"
#include "gemm/blocks/register_product.cuh"
#include "gemm/blocks/tma_product.cuh"

// From a product's arguments to the launch of a kernel whose first operand goes through registers.
// Host code.

namespace fathom::gemm {

/// A kernel's shape and the way in which its first operand lies. A shape is a type, since kernels
/// are named by types (gemm/blocks/tma_product.cuh): it has a RegisterKernelConfig `config` and, as
/// `majors`, the layouts of the operands that it is compiled for, the second always along k.
template <class Shape, Major first>
struct RegisterKernel {
  static constexpr RegisterKernelConfig config = Shape::config;
  static constexpr Major major = first;
};

/// The operands of such a kernel: `first` by way of registers, contiguous either way; `second`
/// along k, or where it is split into planes, those.
struct RegisterOperands {
  TmaOperand first, second;
  /// Whether `first` is BLAS's A, so that the kernel computes BLAS's C; else it computes the
  /// transpose, as other kernels do (gemm/bench/problem.h).
  bool a_first = false;
};

template <class Shape, Major first>
void launch_register_kernel(const TiledProduct<float, float>& product, cudaStream_t stream) {
  constexpr RegisterKernelConfig d = Shape::config;
  constexpr auto kernel = &register_product<RegisterKernel<Shape, first>>;
  if constexpr (d.has_tail) {
    constexpr RegisterKernelConfig tail = TailOf<Shape>::config;
    launch_with_tail_kernel<kernel, d.ring(),
                            &register_product<RegisterKernel<TailOf<Shape>, first>>, tail.ring()>(
        product, register_launch<d>(stream), register_launch<tail>(stream));
  } else {
    launch_scheduled<kernel, d.ring()>(product, register_launch<d>(stream));
  }
}

/// Launches the shape; `columns` is the outer size of the second operand itself.
template <class Shape>
void launch_register_shape(const Arguments& arguments, const RegisterOperands& operands,
                           std::int64_t columns, cudaStream_t stream) {
  constexpr RegisterKernelConfig d = Shape::config;
  constexpr KernelConfig ring = d.ring();
  const Problem& p = arguments.problem;
  TiledProduct<float, float> product{};
  product.map_a = operand_map(operands.first);
  product.map_b = operand_map(operands.second, ring.narrow_b ? ring.n : block_side);
  product.m = static_cast<int>(operands.first.outer);
  product.n = static_cast<int>(columns);
  product.depth = static_cast<int>(ceil_div(p.k, stage_depth<float>));
  product.tiles_m = static_cast<int>(ceil_div(product.m, ring.m() * d.cluster_m));
  product.tiles_n = static_cast<int>(ceil_div(columns, d.columns * d.cluster_n));
  product.first = 0;
  product.end = product.step = product.tiles_m * product.tiles_n;
  product.alpha = static_cast<float>(p.alpha);
  product.beta = static_cast<float>(p.beta);
  product.c = {static_cast<float*>(arguments.c), operands.a_first ? 1 : p.ldc,
               operands.a_first ? p.ldc : 1};
  product.tma_stores = columns_aligned(p.ldc, Element::f32, map_alignment) &&
                       columns_aligned(p.m, Element::f32, map_alignment);
  if constexpr (takes(Shape::majors, Major::k, Major::k)) {
    if (operands.first.major == Major::k) launch_register_kernel<Shape, Major::k>(product, stream);
  }
  if constexpr (takes(Shape::majors, Major::outer, Major::k)) {
    if (operands.first.major == Major::outer)
      launch_register_kernel<Shape, Major::outer>(product, stream);
  }
}

/// What a rung reports of a shape.
template <class Shape>
RungKernel register_kernel() {
  constexpr RegisterKernelConfig d = Shape::config;
  constexpr KernelConfig ring = d.ring();
  return {reinterpret_cast<const void*>(&register_product<RegisterKernel<Shape, Major::outer>>),
          ring.threads(),
          register_product_shared_bytes<d>(),
          ring.m(),
          d.columns,
          stage_depth<float>,
          d.split_k,
          d.cluster_m,
          d.cluster_n};
}

}  // namespace fathom::gemm
