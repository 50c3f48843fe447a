#pragma once

#include "gemm/best/plan.h"
#include "gemm/blocks/tma_product.cuh"

// The shapes that every type has: a wide tile, and narrow ones for few rows or columns.

namespace fathom::gemm {

/// Operands as they lie, which 16-bit types allow; or all along k, as the other types must be.
struct AnyLayout {
  static constexpr MajorsTaken majors{};
  static constexpr bool promoted = false;
};
struct AlongK {
  static constexpr MajorsTaken majors{Major::k, Major::k};
  static constexpr bool promoted = false;
};
/// The same with sums that are promoted to fp32 stage by stage.
struct AlongKPromoted : AlongK {
  static constexpr bool promoted = true;
};

/// For products that fill the GPU: a cluster of two and four stages leave room for C's buffers.
template <class Layout>
struct WideTile : Layout {
  static constexpr KernelConfig config{
      .n = 256, .stages = 4, .cluster_m = 2, .tma_stores = true, .promoted = Layout::promoted};
};

/// For products that fill it more than once: clusters of eight, and for the SMs that they leave
/// clusters of two. Where sums are promoted there are no registers for results that wait.
template <class Layout>
struct LargeClusters : Layout {
  static constexpr KernelConfig config{.n = 256,
                                       .stages = 4,
                                       .cluster_m = 4,
                                       .cluster_n = 2,
                                       .band = 4,
                                       .tma_stores = true,
                                       .deferred_stores = !Layout::promoted,
                                       .early = true,
                                       .promoted = Layout::promoted,
                                       .serpentine = true,
                                       .has_tail = true};
};

/// Whether the large clusters have more than one tile each on a GPU of so many SMs.
template <class Layout>
bool fills_large_clusters(const Problem& p, int sms) {
  constexpr KernelConfig d = LargeClusters<Layout>::config;
  return ceil_div(p.n, d.m() * d.cluster_m) * ceil_div(p.m, d.n * d.cluster_n) * d.cluster() > sms;
}

/// Shapes by the columns that they multiply at once, each for products of that many or fewer, which
/// the memory bus bounds: a cluster shares the k of one tile, so that there are about as many
/// blocks as SMs at the ladder's skinny sizes, and the ring keeps more bytes on their way than the
/// bus's latency needs. Clusters of two: larger ones do not fit all SMs at once.
template <class Layout>
struct Columns16 : Layout {
  static constexpr KernelConfig config{.n = 16,
                                       .stages = 9,
                                       .split_k = 2,
                                       .early = true,
                                       .single_tile = true,
                                       .promoted = Layout::promoted};
};
template <class Layout>
struct Columns64 : Layout {
  static constexpr KernelConfig config{
      .n = 64, .stages = 8, .split_k = 2, .early = true, .promoted = Layout::promoted};
};
template <class Layout>
struct Columns128 : Layout {
  static constexpr KernelConfig config{
      .n = 128, .stages = 6, .split_k = 2, .early = true, .promoted = Layout::promoted};
};

/// Two blocks beside each other have half of the columns each and the whole of k: the large operand
/// crosses from the L2 once for both, and there are no sums to add. Not for sums that are promoted.
template <class Layout>
struct ColumnHalves : Layout {
  static constexpr KernelConfig config{
      .n = 64, .stages = 9, .cluster_n = 2, .early = true, .single_tile = true};
};

/// A shape's kernel for such operands; the rung's own view has BLAS's columns as rows.
template <class Shape, class Types>
RungKernel tma_kernel(const TmaOperands& operands, bool swapped) {
  constexpr KernelConfig d = Shape::config;
  RungKernel kernel{nullptr,   d.threads(), specialised_shared_bytes<d>,
                    d.m(),     d.n,         stage_depth<typename Types::In>,
                    d.split_k, d.cluster_m, d.cluster_n};
  with_majors<Shape>(operands, [&]<Major a, Major b>() {
    kernel.function =
        reinterpret_cast<const void*>(&specialised_product<TmaKernel<Shape, Types, a, b>>);
  });
  return swapped ? kernel.transposed() : kernel;
}

/// The plan of a product with this shape, after copies; `swapped`: with exchanged operands.
template <class Shape, class Types>
RungPlan shape_plan(const Problem& p, bool swapped) {
  const std::size_t copied = TmaOperands::copy_bytes(p, swapped, Shape::majors);
  const auto launch = [swapped](const Arguments& arguments, const Workspace& workspace,
                                cudaStream_t stream) {
    const TmaOperands operands =
        TmaOperands::prepared(arguments, swapped, Shape::majors, workspace.data, stream);
    launch_tma_product<Shape, Types>(arguments, operands, swapped, stream);
  };
  return {launch, copied, tma_kernel<Shape, Types>(TmaOperands::of({p}, swapped), swapped),
          copied == 0};
}

/// Which shape a product takes: large clusters for what fills them, halves of 128 columns, and for
/// small products the tiles of skinny ones where those occupy more SMs.
template <class Layout, class Types>
RungPlan best_plan(const Problem& p, int sms) {
  const bool swapped = small_side_is_n(p);
  if (!is_skinny(p) && fills_large_clusters<Layout>(p, sms))
    return shape_plan<LargeClusters<Layout>, Types>(p, false);
  // Promoted sums are slower in halves: 0.67 of the library's speed at m = 128, n = k = 8192 on an
  // H200, where blocks that share k reach 0.81.
  if constexpr (!Layout::promoted) {
    if (is_skinny(p) && std::min(p.m, p.n) > Columns64<Layout>::config.n)
      return shape_plan<ColumnHalves<Layout>, Types>(p, swapped);
  }
  if (!is_skinny(p) && !halves_of_small_tiles_are_sooner(p, sms))
    return shape_plan<WideTile<Layout>, Types>(p, false);
  const std::int64_t columns = std::min(p.m, p.n);
  if (columns <= Columns16<Layout>::config.n)
    return shape_plan<Columns16<Layout>, Types>(p, swapped);
  if (columns <= Columns64<Layout>::config.n)
    return shape_plan<Columns64<Layout>, Types>(p, swapped);
  return shape_plan<Columns128<Layout>, Types>(p, swapped);
}

/// The top rung of a type.
template <class Layout, class Types>
Rung best_rung(Class of, const char* name) {
  Rung rung = hopper_contender(of, name, &best_plan<Layout, Types>);
  rung.promoted = Layout::promoted;
  return rung;
}

}  // namespace fathom::gemm
