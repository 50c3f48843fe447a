#pragma once

#include "gemm/bench/rung.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/specialised_product.cuh"
#include "gemm/blocks/tensor_map.h"

// From a product's arguments to the launch of a kernel whose operands come by TMA. Host code.

namespace fathom::gemm {

/// A kernel's types and its shape, a type that has a `static constexpr KernelConfig config` and, as
/// `majors`, the layouts of the operands that it is compiled for. (A type, since nvcc cannot name a
/// kernel whose template argument is an object of a class.)
template <class Shape, class Types, Major a, Major b>
struct TmaKernel : Types {
  static constexpr KernelConfig config = Shape::config;
  static constexpr Major a_major = a, b_major = b;
};

/// The tail kernel's shape, for the SMs that large clusters leave: two blocks, one below the other.
template <class Shape>
struct TailOf {
  static constexpr MajorsTaken majors = Shape::majors;
  static constexpr auto config = [] {
    auto d = Shape::config;
    d.parent_m = d.cluster_m / 2;
    d.parent_n = d.cluster_n;
    d.cluster_m = 2;
    d.cluster_n = 1;
    d.has_tail = false;
    return d;
  }();
};

constexpr bool takes(const MajorsTaken& taken, Major a, Major b) {
  return (!taken.a || *taken.a == a) && (!taken.b || *taken.b == b);
}

/// The map of an operand: boxes of `lines` lines; of 32-bit elements along the outer dimension 32.
inline CUtensorMap operand_map(const TmaOperand& x, int lines = block_side) {
  const bool halves = x.major == Major::outer && element_bytes(x.element) == 4;
  return tensor_map(x.data, x.element, x.inner(), x.lines(), x.stride,
                    halves ? half_block_side : lines);
}

/// The product in row-major terms, or with both operands exchanged and C transposed: `swapped`.
template <class Types>
TiledProduct<typename Types::Out, typename Types::Scalar> tiled_product(const Arguments& arguments,
                                                                        const TmaOperands& operands,
                                                                        const KernelConfig& d,
                                                                        bool swapped) {
  using In = typename Types::In;
  using Out = typename Types::Out;
  using Scalar = typename Types::Scalar;
  const Problem& p = arguments.problem;
  TiledProduct<Out, Scalar> product{};
  product.map_a = operand_map(operands.a);
  product.map_b = operand_map(operands.b, d.b_box_lines());
  product.m = static_cast<int>(operands.a.outer);
  product.n = static_cast<int>(swapped ? p.n : p.m);  // planes have more lines than the operand
  product.depth = static_cast<int>(ceil_div(p.k, stage_depth<In>));
  product.tiles_m = static_cast<int>(ceil_div(product.m, d.m() * d.cluster_m));
  product.tiles_n = static_cast<int>(ceil_div(product.n, d.n * d.cluster_n));
  product.first = 0;
  product.end = product.step = product.tiles_m * product.tiles_n;
  product.alpha = static_cast<Scalar>(p.alpha);
  product.beta = static_cast<Scalar>(p.beta);
  product.c = {static_cast<Out*>(arguments.c), swapped ? 1 : p.ldc, swapped ? p.ldc : 1};
  const Element output = traits(p.of).output;
  // TMA writes whole pieces of 16 bytes: where C's contiguous side ends within one, it would write
  // the gap up to the leading dimension, too (seen on an H200).
  product.tma_stores = (!swapped || d.a_in_registers) &&
                       columns_aligned(p.ldc, output, map_alignment) &&
                       columns_aligned(p.m, output, map_alignment);
  if ((d.tma_stores || d.single_tile) && product.tma_stores)
    product.map_c = tensor_map(arguments.c, output, p.m, p.n, p.ldc, 16);
  return product;
}

template <KernelConfig d>
ClusterLaunch specialised_launch(cudaStream_t stream) {
  return {1, d.threads(), specialised_shared_bytes<d>, d.cluster(), stream, d.early};
}

/// Calls `use` with the majors of the shape's kernel for these operands, before or after a copy.
template <class Shape, class Use>
void with_majors(const TmaOperands& operands, const Use& use) {
  const Major of_a = Shape::majors.a.value_or(operands.a.major),
              of_b = Shape::majors.b.value_or(operands.b.major);
  const auto call = [&]<Major a, Major b>() {
    if constexpr (takes(Shape::majors, a, b))
      if (a == of_a && b == of_b) use.template operator()<a, b>();
  };
  call.template operator()<Major::k, Major::k>();
  call.template operator()<Major::k, Major::outer>();
  call.template operator()<Major::outer, Major::k>();
  call.template operator()<Major::outer, Major::outer>();
}

/// Launches the shape's kernel on operands that it takes.
template <class Shape, class Types>
void launch_tma_product(const Arguments& arguments, const TmaOperands& operands, bool swapped,
                        cudaStream_t stream) {
  const auto product = tiled_product<Types>(arguments, operands, Shape::config, swapped);
  with_majors<Shape>(operands, [&]<Major a, Major b>() {
    constexpr KernelConfig d = Shape::config;
    constexpr auto kernel = &specialised_product<TmaKernel<Shape, Types, a, b>>;
    if constexpr (d.has_tail) {
      constexpr KernelConfig tail = TailOf<Shape>::config;
      launch_with_tail_kernel<kernel, d,
                              &specialised_product<TmaKernel<TailOf<Shape>, Types, a, b>>, tail>(
          product, specialised_launch<d>(stream), specialised_launch<tail>(stream));
    } else {
      launch_scheduled<kernel, d>(product, specialised_launch<d>(stream));
    }
  });
}

}  // namespace fathom::gemm
