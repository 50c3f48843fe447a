#pragma once

#include "gemm/blocks/kernel_config.cuh"
#include "gemm/blocks/warp_tile.cuh"

// A tile's results that leave while the next tile is multiplied.

namespace fathom::gemm {

/// What a warp has yet to store of the tile before.
template <KernelConfig d, class Out>
struct DeferredStores {
  static constexpr bool used = d.deferred_stores && sizeof(Out) == 2;
  static constexpr int chunks = used ? d.n / staged_columns<Out> : 0;
  static_assert(!used || (d.tma_stores && chunks % staging_slots == 0));
  std::uint32_t pairs[used ? d.n / 4 : 1] = {};
  int row = 0, column = 0;
  bool pending = false;

  /// Keeps a tile's finished sums.
  template <int Count>
  __device__ void take(const std::uint32_t (&sums)[Count], int to_row, int to_column) {
    pack<Out>(sums, pairs);
    row = to_row;
    column = to_column;
    pending = true;
  }
  /// Stores one of the chunks of 64 columns; nothing if there is no such.
  template <class P>
  __device__ void store(const P& p, int chunk, std::uint32_t staging) {
    if constexpr (used) {
      if (!pending || chunk >= chunks) return;
      if (threadIdx.x % 32 == 0) wait_stores_read<staging_slots - 1>();
      __syncwarp();
      const std::uint32_t buffer = staging + chunk % staging_slots * staged_bytes;
#pragma unroll
      for (int c = 0; c < chunks; ++c) {
        if (chunk == c) stage_pairs(pairs, c * 16, buffer);
      }
      store_staged(p, row, column + chunk * staged_columns<Out>, buffer);
    }
  }
  /// Stores the chunks from `first` on.
  template <class P>
  __device__ void store_from(const P& p, int first, std::uint32_t staging) {
#pragma unroll 1
    for (int chunk = first; chunk < chunks; ++chunk) store(p, chunk, staging);
    pending = false;
  }
};

}  // namespace fathom::gemm
