#pragma once

#include <algorithm>

#include "gemm/bench/rung.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/streamed_product.cuh"

// From a product's arguments to the launch of a kernel that streams the large operand. Host code.

namespace fathom::gemm::streamed {

/// The product in row-major terms, or with both operands exchanged and C transposed, so that the
/// large operand is the first.
template <class T>
Product<T> view(const Arguments& arguments) {
  return arguments.problem.n < arguments.problem.m ? column_major<T>(arguments)
                                                   : row_major<T>(arguments);
}

/// How the small operand can be read, if it can: along k from where 16 bytes start, or else in
/// pairs along its columns.
template <class T>
std::optional<Major> major_of(const Product<T>& p) {
  constexpr std::int64_t elements = 16 / sizeof(T);
  if (p.b.row_stride == 1 && p.b.column_stride % elements == 0) return Major::k;
  if (p.b.column_stride == 1 && p.b.row_stride % 2 == 0 && p.n % 2 == 0) return Major::outer;
  return std::nullopt;
}

/// Whether a kernel can do the product: at most 16 columns, the large operand contiguous along k,
/// each of its rows whole steps from where 16 bytes start, and the small one as `major_of` says.
template <class T>
bool takes(const Problem& problem) {
  constexpr std::int64_t bytes = sizeof(T), most_row_bytes = std::int64_t{1} << 30;
  const Product<T> p = view<T>({problem});
  return p.n <= columns && p.a.column_stride == 1 && p.a.row_stride * bytes % 16 == 0 &&
         problem.k * bytes % step_bytes == 0 && problem.k * bytes <= most_row_bytes &&
         major_of(p).has_value();
}

/// For products that `takes` lets pass.
template <class T>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  const Product<T> product = view<T>(arguments);
  const auto kernel = major_of(product) == Major::k ? &streamed_product<T, Major::k>
                                                    : &streamed_product<T, Major::outer>;
  ClusterLaunch launch{1, threads, Memory<T>::bytes, cluster, stream};
  // The same for both majors: shared memory allows one block an SM.
  static const int resident = resident_clusters(kernel, launch);
  const int wanted = std::min(resident, std::max(1, workspace.sms / cluster));
  const int fewest = static_cast<int>(ceil_div(product.m, most_rows));
  const int most = static_cast<int>(ceil_div(product.m, rows_at_once));
  launch.blocks = cluster * std::max(fewest, std::min(wanted, most));
  launch_cluster(kernel, launch, product);
}

}  // namespace fathom::gemm::streamed
