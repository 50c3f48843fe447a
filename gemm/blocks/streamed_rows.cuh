#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// A product of which one side has at most 16: how a kernel reads the other, large operand once, in
// long runs of memory, and holds its part of the small one in registers.
//
// In row-major terms (gemm/bench/problem.h) A, the large one, is m x k, each row contiguous; B is k
// x n. The blocks of a cluster share k: each has a slab of all the cluster's rows, and B's part of
// that slab. A crosses from the memory once, B once for each cluster; only sums leave a block.

namespace fathom::gemm::streamed {

/// Most columns of the small operand.
inline constexpr int columns = 16;
/// Rows that the tensor cores take at once: of a stage, and of sums made together.
inline constexpr int rows_at_once = 16;
/// A warp multiplies so many bytes of a row at once: two chunks of 16 for each of four lanes.
inline constexpr int step_bytes = 128;

// One block an SM, of warps that multiply and one that has the copies made.
inline constexpr int warps = 8, multiplying_threads = 32 * warps;
inline constexpr int threads = multiplying_threads + 32;
/// One warp's part of a row's bytes in a stage, and the steps that it takes.
inline constexpr int warp_bytes = 256, steps = warp_bytes / step_bytes;
/// Contiguous bytes that one copy brings: a row's part of a stage. Of the two rows that a quarter
/// of a warp reads at once the 64 bytes lie in the same banks. 64 bytes between the rows would keep
/// them apart, but TMA takes up to 15 % longer to where no 128 bytes begin (docs/gemm/tuning.md).
inline constexpr int run_bytes = warps * warp_bytes;
/// Stages that a row's bytes in a slab take.
inline constexpr int slab_stages = 2, slab_bytes = slab_stages * run_bytes;
/// Blocks that share a row's k.
inline constexpr int cluster = 4;
/// Most rows of a cluster: their sums stay in shared memory until the end.
inline constexpr int most_rows = 288;

/// The rows of cluster `number` begin here: as many for each, the first ones one more.
__host__ __device__ constexpr int first_row(int rows, int number, int clusters) {
  const int more = rows % clusters;
  return rows / clusters * number + (number < more ? number : more);
}

/// A block's part of each row's `row_bytes` in pass `pass` over its rows: from byte `begin` on,
/// `stages` stages. A row may have more slabs than a cluster has blocks: hence the passes.
struct Slab {
  int begin, stages;
};
__host__ __device__ constexpr Slab slab_of(int row_bytes, int pass, int rank) {
  const int begin = (pass * cluster + rank) * slab_bytes;
  const int left = row_bytes - begin;
  const int stages = left <= 0 ? 0 : (left + run_bytes - 1) / run_bytes;
  return {begin, stages < slab_stages ? stages : slab_stages};
}
__host__ __device__ constexpr int passes_over(int row_bytes) {
  constexpr int all = cluster * slab_bytes;
  return (row_bytes + all - 1) / all;
}

/// From a lane's first chunk of 16 bytes of a step to its second.
inline constexpr int chunk_stride = 64;
/// Where in a step's 128 bytes of a row chunk `chunk` (0 or 1) of lane `lane` is.
__host__ __device__ constexpr int chunk_of(int lane, int chunk) {
  return chunk * chunk_stride + lane % 4 * 16;
}

/// The column of B that a lane has in products with its column `lane / 4` of half `half`: the lanes
/// have neighbours in pairs, so that one load brings both, and of the sums a lane has four.
__host__ __device__ constexpr int column_of(int lane, int half) { return lane / 4 * 2 + half; }

}  // namespace fathom::gemm::streamed
