#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fathom::warp_reduce {

/// 16-byte vectors that a thread adds per tile: two batches of four independent loads. Four loads
/// in flight a thread fill the memory system at full occupancy; more only cost registers.
inline constexpr int vectors_per_batch = 4;
inline constexpr int batches_per_tile = 2;
inline constexpr int vector_bytes = 16;

__host__ __device__ constexpr std::size_t tile_vectors(int threads) {
  return static_cast<std::size_t>(threads) * vectors_per_batch * batches_per_tile;
}

/// How `n` elements at any address split into work. Elements before the first and after the last
/// whole 16-byte vector, and vectors after the last whole tile, are the ragged rest: one block's.
struct SumLayout {
  std::size_t elements = 0;
  int head_elements = 0;    ///< before the first 16-byte boundary
  std::size_t vectors = 0;  ///< whole 16-byte vectors, those of tiles included
  std::size_t full_tiles = 0;
  std::size_t rest_vectors = 0;
  int tail_elements = 0;

  __host__ __device__ constexpr bool ragged() const {
    return head_elements + tail_elements > 0 || rest_vectors > 0;
  }
  /// Full ones and the ragged rest.
  __host__ __device__ constexpr std::size_t tiles() const {
    return full_tiles + (ragged() ? 1 : 0);
  }
};

/// `address` modulo 16 is all that matters of it; it must be a multiple of `element_bytes`.
constexpr SumLayout sum_layout(std::uintptr_t address, std::size_t n, int element_bytes,
                               int threads) {
  SumLayout layout;
  layout.elements = n;
  const std::size_t to_boundary = (vector_bytes - address % vector_bytes) % vector_bytes;
  layout.head_elements = static_cast<int>(std::min(to_boundary / element_bytes, n));
  const std::size_t per_vector = vector_bytes / element_bytes;
  const std::size_t body = n - layout.head_elements;
  layout.vectors = body / per_vector;
  layout.tail_elements = static_cast<int>(body % per_vector);
  layout.full_tiles = layout.vectors / tile_vectors(threads);
  layout.rest_vectors = layout.vectors % tile_vectors(threads);
  return layout;
}

}  // namespace fathom::warp_reduce
