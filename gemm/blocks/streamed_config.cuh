#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// A product of which one side has at most 16: how a kernel cuts it that reads the other, large
// operand once, as long runs of memory, and holds its part of the small operand in registers.
//
// In row-major terms (gemm/bench/problem.h) A, the large one, is m x k, and each of its rows is
// contiguous along k; B is k x n, n at most 16. The blocks of a cluster share k: each has a slab of
// every row of the cluster's, and keeps B's part of that slab for as long as it goes through the
// rows. So A crosses from the memory once, and B once for each cluster; only sums leave a block.

namespace fathom::gemm {

/// Most columns of the small operand.
inline constexpr int streamed_columns = 16;
/// Rows that the tensor cores take at once: of a stage, and of the sums that a block makes
/// together.
inline constexpr int streamed_rows = 16;
/// A warp multiplies so many bytes of a row at once: two chunks of 16 for each of four lanes.
inline constexpr int streamed_step = 128;

/// One block an SM.
struct StreamedKernelConfig {
  int warps = 8;             ///< that multiply
  int warp_bytes = 256;      ///< of a row's bytes in a stage, those of one warp
  int slab_stages = 2;       ///< stages that a row's bytes in a slab take
  int stages = 3;            ///< of the ring
  int cluster = 4;           ///< blocks that share a row's k
  int most_rows = 288;       ///< of a cluster: their sums stay in shared memory until the end
  bool evict_first = false;  ///< A's lines are the first to leave the L2

  /// Contiguous bytes that one copy brings: a row's part of a stage.
  __host__ __device__ constexpr int run_bytes() const { return warps * warp_bytes; }
  /// From a row of a stage to the next. Two rows and the four lanes of each are what a quarter of a
  /// warp reads at once, 64 bytes of each row, of the same banks. 64 bytes between the rows would
  /// keep them apart, but the TMA takes up to 15 % longer for runs to where no 128 bytes begin
  /// (docs/gemm/tuning.md).
  __host__ __device__ constexpr int pitch() const { return run_bytes(); }
  __host__ __device__ constexpr int stage_bytes() const { return streamed_rows * pitch(); }
  __host__ __device__ constexpr int slab_bytes() const { return slab_stages * run_bytes(); }
  __host__ __device__ constexpr int steps() const { return warp_bytes / streamed_step; }
  __host__ __device__ constexpr int multiplying_threads() const { return 32 * warps; }
  /// And a warp that has the copies made.
  __host__ __device__ constexpr int threads() const { return multiplying_threads() + 32; }
};

/// Where things lie in a block's shared memory, in bytes; it starts on 128.
template <StreamedKernelConfig d, class Sum>
struct StreamedMemory {
  static constexpr int tile = streamed_rows * streamed_columns;  ///< sums
  static constexpr int exchange = d.stages * d.stage_bytes();    ///< behind the ring
  static constexpr int kept = exchange + d.warps * tile * int{sizeof(Sum)};
  static constexpr int barriers = kept + d.most_rows * streamed_columns * int{sizeof(Sum)};
  static constexpr int bytes = barriers + 2 * 8 * d.stages;
};

/// The rows of cluster `cluster` of `clusters` are those from here to the next one's: as many of
/// each, and one more of the first ones.
__host__ __device__ constexpr int streamed_first_row(int rows, int cluster, int clusters) {
  const int more = rows % clusters;
  return rows / clusters * cluster + (cluster < more ? cluster : more);
}

/// A block's part of each row's `row_bytes` in pass `pass` over its rows: from byte `begin` on,
/// `stages` stages. A row may have more slabs than a cluster has blocks: hence the passes.
struct StreamedSlab {
  int begin, stages;
};
template <StreamedKernelConfig d>
__host__ __device__ constexpr StreamedSlab streamed_slab(int row_bytes, int pass, int rank) {
  const int begin = (pass * d.cluster + rank) * d.slab_bytes();
  const int left = row_bytes - begin;
  const int stages = left <= 0 ? 0 : (left + d.run_bytes() - 1) / d.run_bytes();
  return {begin, stages < d.slab_stages ? stages : d.slab_stages};
}

template <StreamedKernelConfig d>
__host__ __device__ constexpr int streamed_passes(int row_bytes) {
  constexpr int all = d.cluster * d.slab_bytes();
  return (row_bytes + all - 1) / all;
}

/// From a lane's first chunk of 16 bytes of a step to its second.
inline constexpr int streamed_chunk_stride = 64;
/// Where in a step's 128 bytes of a row chunk `chunk` (0 or 1) of lane `lane` is.
__host__ __device__ constexpr int streamed_chunk(int lane, int chunk) {
  return chunk * streamed_chunk_stride + lane % 4 * 16;
}

/// The column of B that a lane has in products with its column `lane / 4` of half `half`: the lanes
/// have neighbours in pairs, so that one load brings both, and of the sums a lane has four.
__host__ __device__ constexpr int streamed_column(int lane, int half) {
  return lane / 4 * 2 + half;
}

}  // namespace fathom::gemm
