#pragma once

#include <algorithm>

#include "gemm/bench/rung.h"
#include "gemm/best/plan.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/launch_cluster.h"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/streamed_product.cuh"

// From a product's arguments to the launch of a kernel that streams the large operand. Host code.

namespace fathom::gemm::streamed {

/// The product in row-major terms, or swapped with C transposed: the large operand is the first.
template <class T>
Product<T> view(const Arguments& arguments) {
  return small_side_is_n(arguments.problem) ? column_major<T>(arguments) : row_major<T>(arguments);
}

inline TmaOperand small_operand(const Arguments& arguments) {
  return TmaOperands::of(arguments, small_side_is_n(arguments.problem)).b;
}

/// Whether the kernel can read it where it lies: in pairs along its columns. A copy has such lines.
inline bool has_pairs(const TmaOperand& small) {
  return small.major == Major::outer && small.stride % 2 == 0;
}

/// Whether a kernel can do the product: at most 16 columns, an even number unless the small operand
/// lies along k and is copied; the large one along k, in rows of whole steps, on 16 bytes.
template <class T>
bool takes(const Problem& problem) {
  constexpr std::int64_t bytes = sizeof(T), most_row_bytes = std::int64_t{1} << 30;
  const Product<T> p = view<T>({problem});
  return p.n <= columns && (p.n % 2 == 0 || small_operand({problem}).major == Major::k) &&
         p.a.column_stride == 1 && p.a.row_stride * bytes % 16 == 0 &&
         problem.k * bytes % step_bytes == 0 && problem.k * bytes <= most_row_bytes;
}

/// For products that `takes` allows.
template <class T>
void launch(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream) {
  Product<T> product = view<T>(arguments);
  std::byte* copy = workspace.data;
  TmaOperand small = small_operand(arguments);
  if (!has_pairs(small)) small = prepare(small, Major::outer, copy, stream);
  product.b = {static_cast<const T*>(small.data), small.stride, 1};
  const auto kernel = &streamed_product<T>;
  ClusterLaunch launch{1, threads, Memory<T>::bytes, cluster, stream};
  static const int resident = resident_clusters(kernel, launch);
  const int wanted = std::min(resident, std::max(1, workspace.sms / cluster));
  const int fewest = static_cast<int>(ceil_div(product.m, most_rows));
  const int most = static_cast<int>(ceil_div(product.m, rows_at_once));
  launch.blocks = cluster * std::max(fewest, std::min(wanted, most));
  launch_cluster(kernel, launch, product);
}

/// For products that `takes` allows.
template <class T>
RungPlan plan(const Problem& problem) {
  const TmaOperand small = small_operand({problem});
  const std::size_t copied = has_pairs(small) ? 0 : copy_bytes(small, Major::outer);
  return {&launch<T>,
          copied,
          {reinterpret_cast<const void*>(&streamed_product<T>), threads, Memory<T>::bytes},
          copied == 0};
}

}  // namespace fathom::gemm::streamed
