#pragma once

#include "gemm/blocks/wgmma.cuh"

// What a kernel whose operands come by TMA is told of its shape.

namespace fathom::gemm {

/// How a kernel cuts a product C (m x n) = A (m x k) B (k x n), in row-major terms
/// (gemm/problem.h).
struct KernelConfig {
  int consumers = 2;  ///< warpgroups that multiply
  int m_blocks = 1;   ///< blocks of 64 rows of each
  int n = 256;        ///< columns of a block's tile
  int stages = 4;     ///< of the ring
  int cluster_m = 1;  ///< blocks of a cluster one below the other: they load each tile of B once
  int cluster_n = 1;  ///< and beside each other: they load each tile of A once
  int split_k = 1;    ///< blocks of a cluster that share the k of one tile
  int band = 8;       ///< cluster rows that are gone through column by column
  bool persistent =
      false;  ///< as many blocks as the GPU holds, from tile to tile; else a block a tile
  bool tma_stores = false;  ///< C leaves through shared memory and TMA
  /// A tile's results wait as 16-bit elements in registers, and leave while the next is multiplied.
  bool deferred_stores = false;
  /// Its blocks may start, and wait, while the kernel before it on the stream ends.
  bool early = false;
  /// A block has one tile, and the launch takes microseconds: blocks of a cluster synchronise
  /// without waiting for what they have written, end one by one, and store C through the ring,
  /// which they have no more use for.
  bool single_tile = false;
  bool a_in_registers =
      false;  ///< A's blocks come to the products through registers (register_product.cuh)
  bool promoted = false;  ///< each stage's sums are added up outside the tensor cores
  /// Every other tile goes through k backwards: it starts with what the L2 has seen last.
  bool serpentine = false;
  /// B's boxes have as many lines as the tile has columns, fewer than 64, instead of lines that
  /// other tiles have or none. For B along k only.
  bool narrow_b = false;
  float kept_a = 0;       ///< how much of A's lines the L2 is told to keep for the rest of the band
  bool has_tail = false;  ///< a tail kernel runs beside it on the SMs that its clusters leave
  /// Cluster tiles of an entry of the scheduler: more than one for a tail kernel.
  int parent_m = 1, parent_n = 1;

  __host__ __device__ constexpr int m() const { return 64 * m_blocks * consumers; }
  __host__ __device__ constexpr int cluster() const { return cluster_m * cluster_n * split_k; }
  /// Blocks of a cluster that share a tile of A or of B with one of them, itself included.
  __host__ __device__ constexpr int sharing() const { return cluster_m + cluster_n - 1; }
  __host__ __device__ constexpr int parent() const { return parent_m * parent_n; }
  __host__ __device__ constexpr int threads() const { return 128 * (consumers + 1); }
  __host__ __device__ constexpr int a_blocks() const { return m() / block_side; }
  __host__ __device__ constexpr int b_blocks() const { return (n + block_side - 1) / block_side; }
  /// Lines of B's boxes.
  __host__ __device__ constexpr int b_box_lines() const { return narrow_b ? n : block_side; }
  __host__ __device__ constexpr int stage_bytes() const {
    return a_blocks() * block_bytes + (narrow_b ? n * 128 : b_blocks() * block_bytes);
  }
};

/// Lines of 128 bytes are the unit of k: so many elements.
template <class In>
inline constexpr int stage_depth = 128 / static_cast<int>(sizeof(In));

}  // namespace fathom::gemm
