#pragma once

#include <algorithm>

#include "gemm/bench/rung.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/streamed_product.cuh"

// From a product's arguments to the launch of a kernel that streams the large operand. Host code.

namespace fathom::gemm {

/// `Shape` has a StreamedKernelConfig `config`; `Types` the types In, Out and Scalar.
template <class Shape, class Types, Major of_b>
struct StreamedKernel : Types {
  static constexpr StreamedKernelConfig config = Shape::config;
  static constexpr Major major = of_b;
};

/// The product in row-major terms, or with both operands exchanged and C transposed, so that the
/// large operand is the first.
template <class Types>
auto streamed_view(const Arguments& arguments) {
  using In = typename Types::In;
  using Out = typename Types::Out;
  using Scalar = typename Types::Scalar;
  return arguments.problem.n < arguments.problem.m ? column_major<In, Out, Scalar>(arguments)
                                                   : row_major<In, Out, Scalar>(arguments);
}

/// How the small operand can be read, if it can: along k from where 16 bytes start, or else in
/// pairs along its columns.
template <class View>
std::optional<Major> streamed_major(const View& p) {
  constexpr std::int64_t elements = 16 / sizeof(*p.b.data);
  if (p.b.row_stride == 1 && p.b.column_stride % elements == 0) return Major::k;
  if (p.b.column_stride == 1 && p.b.row_stride % 2 == 0 && p.n % 2 == 0) return Major::outer;
  return std::nullopt;
}

/// Whether a kernel can do the product: at most 16 columns, the large operand contiguous along k,
/// each of its rows whole steps from where 16 bytes start, and the small one as `streamed_major`
/// says.
template <class Types>
bool takes_streamed(const Problem& problem) {
  if (problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.alpha == 0) return false;
  constexpr std::int64_t bytes = sizeof(typename Types::In);
  constexpr std::int64_t most_row_bytes = std::int64_t{1} << 30;
  const auto p = streamed_view<Types>({problem});
  return p.n <= streamed_columns && p.a.column_stride == 1 && p.a.row_stride * bytes % 16 == 0 &&
         problem.k * bytes % streamed_step == 0 && problem.k * bytes <= most_row_bytes &&
         streamed_major(p).has_value();
}

template <class Kernel>
void launch_streamed_kernel(
    const Product<typename Kernel::In, typename Kernel::Out, typename Kernel::Scalar>& product,
    int sms, cudaStream_t stream) {
  constexpr StreamedKernelConfig d = Kernel::config;
  using Memory = StreamedMemory<d, StreamedSum<typename Kernel::In>>;
  static_assert(d.most_rows % streamed_rows == 0 && d.warp_bytes % streamed_step == 0);
  // An SM has 228 KiB, of which a block takes one for itself.
  static_assert(Memory::bytes + 1024 <= 228 * 1024);
  const auto kernel = streamed_product<Kernel>;
  ClusterLaunch launch{1, d.threads(), Memory::bytes, d.cluster, stream};
  static const int resident = resident_clusters(kernel, launch);
  const int wanted = std::min(resident, std::max(1, sms / d.cluster));
  const int fewest = static_cast<int>(ceil_div(product.m, d.most_rows));
  const int most = static_cast<int>(ceil_div(product.m, streamed_rows));
  launch.blocks = d.cluster * std::max(fewest, std::min(wanted, most));
  launch_cluster(kernel, launch, product);
}

/// For products that `takes_streamed` lets pass, or that need no product.
template <class Shape, class Types>
void launch_streamed(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  const auto product = streamed_view<Types>(arguments);
  if (streamed_major(product) == Major::k)
    return launch_streamed_kernel<StreamedKernel<Shape, Types, Major::k>>(product, workspace.sms,
                                                                          stream);
  launch_streamed_kernel<StreamedKernel<Shape, Types, Major::outer>>(product, workspace.sms,
                                                                     stream);
}

}  // namespace fathom::gemm
