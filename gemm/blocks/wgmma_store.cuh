#pragma once

#include "gemm/blocks/wgmma.cuh"

// How the sums of a warpgroup get to C by way of shared memory and TMA.

namespace fathom::gemm {

/// Makes what goes to C of a warp's sums, in place: all of it before the first is stored, so that
/// where beta is 0 a store is a conversion and nothing else.
template <class Out, class Scalar, int Count>
__device__ inline void finish(const TiledProduct<Out, Scalar>& p, std::uint32_t (&sums)[Count],
                              int row, int column) {
  if (p.beta == Scalar(0)) {
    if (p.alpha == Scalar(1)) return;
#pragma unroll
    for (std::uint32_t& sum : sums) sum = bits_of(p.alpha * sum_of<Scalar>(sum));
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  row += lane / 4;
  column += lane % 4 * 2;
  const std::int64_t next_column = p.c.column_stride, next_row = 8 * p.c.row_stride;
  const Out* old = &p.c(row, column);
  const int rows = p.m - row, columns = p.n - column;  // from here on
#pragma unroll
  for (int i = 0; i < Count; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Scalar x = p.alpha * sum_of<Scalar>(sums[i + j]);
      if (j / 2 * 8 < rows && i * 2 + j % 2 < columns)
        x += p.beta * static_cast<Scalar>(old[j / 2 * next_row + j % 2 * next_column]);
      sums[i + j] = bits_of(x);
    }
    old += 8 * next_column;
    if (i % 8 == 4) __syncwarp();  // more old elements at once would not fit into registers
  }
}

/// Writes four 8 x 8 matrices of 16 bits; lane l has the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// Bytes of a row that a warp hands to TMA at once, and of its 16 rows.
inline constexpr int staged_row_bytes = 128, staged_bytes = 16 * staged_row_bytes;
template <class Out>
inline constexpr int staged_columns = staged_row_bytes / static_cast<int>(sizeof(Out));
/// Buffers a warp: one is filled while the other is read, in turns over tiles too.
inline constexpr int staging_slots = 2;

/// A 16-byte word's address in a buffer as TMA wants it: word w of row r at w ^ (r % 8).
__device__ inline std::uint32_t staged_word(std::uint32_t buffer, int row, int word) {
  return buffer + row * staged_row_bytes + (word ^ (row % 8)) * 16;
}

/// Fills a buffer with 64 columns of 16-bit elements, 32 pairs a thread from the first on.
template <int Count>
__device__ inline void stage_pairs(const std::uint32_t (&pairs)[Count], int first,
                                   std::uint32_t buffer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // A store's matrices: 0 and 1 are rows 0 to 7 and 8 to 15 of 8 columns, 2 and 3 of the next 8.
  const int own_row = lane / 8 % 2 * 8 + lane % 8, own_word = lane / 16;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    std::uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) r[i] = pairs[first + j * 4 + i];
    store_matrices(staged_word(buffer, own_row, j * 2 + own_word), r);
  }
}

/// Fills a buffer with the columns, 64 of 16 bits or 32 of 32, whose sums begin at the first.
template <class Out, class Scalar, int Count>
__device__ inline void stage_chunk(const std::uint32_t (&sums)[Count], int first,
                                   std::uint32_t buffer) {
  if constexpr (sizeof(Out) == 2) {
    std::uint32_t pairs[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t* const two = sums + first + 2 * i;
      pairs[i] = packed<Out>(sum_of<Scalar>(two[0]), sum_of<Scalar>(two[1]));
    }
    stage_pairs(pairs, 0, buffer);
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    const int own_row = lane / 4 + i % 4 / 2 * 8, own_column = i / 4 * 8 + lane % 4 * 2;
    const std::uint32_t address = staged_word(buffer, own_row, own_column / 4) + own_column % 4 * 4;
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(sums[first + i]),
                 "r"(sums[first + i + 1])
                 : "memory");
  }
}

/// Hands a warp's buffer over to TMA, which stores it while the warp goes on. What is
/// outside C is not stored; the group of stores is closed all the same, to count alike.
template <class Out, class Scalar>
__device__ inline void store_staged(const TiledProduct<Out, Scalar>& p, int row, int column,
                                    std::uint32_t buffer) {
  fence_async_proxy();
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    if (row < p.m && column < p.n) store_box(p.map_c, column, row, buffer);
    commit_stores();
  }
}

/// Stores a warp's finished sums through its buffers at `staging`, 2 KiB each, by TMA, which goes
/// on while the warp multiplies the next tile. Ends with stores under way.
template <class Out, class Scalar, int Count>
__device__ inline void store_by_tma(const TiledProduct<Out, Scalar>& p,
                                    const std::uint32_t (&sums)[Count], int row, int column,
                                    std::uint32_t staging) {
  constexpr int columns = staged_columns<Out>, chunks = Count * 2 / columns;
  static_assert(chunks * columns == Count * 2 && chunks % staging_slots == 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const std::uint32_t buffer = staging + chunk % staging_slots * staged_bytes;
    const int to_column = column + chunk * columns;
    if (lane == 0) wait_stores_read<staging_slots - 1>();
    __syncwarp();
    stage_chunk<Out, Scalar>(sums, chunk * columns / 2, buffer);
    store_staged(p, row, to_column, buffer);
  }
}

}  // namespace fathom::gemm
