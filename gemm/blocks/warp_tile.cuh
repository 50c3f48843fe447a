#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tma.cuh"

// How the sums of a warpgroup get to C. A warp has 16 rows; sum 4 j + i of a thread is column
// 8 j + 2 (lane % 4) + i % 2 of row lane / 4 + 8 (i / 2) (PTX ISA, the fragment of D of wgmma).

namespace fathom::gemm {

/// A product of which the kernels of TMA compute a tile, in row-major terms; k and
/// alpha are not 0.
template <class Out, class Scalar>
struct TiledProduct {
  CUtensorMap map_a, map_b, map_c;
  int m, n;
  int depth;             ///< stages of k
  int tiles_m, tiles_n;  ///< entries of the scheduler (tile_scheduler.cuh)
  int first, step, end;  ///< of the scheduler, for the first cluster: in cluster tiles
  Scalar alpha, beta;
  Matrix<Out> c;
  bool tma_stores;  ///< map_c can be used: c's rows are contiguous, start and end on 16 bytes
};

/// A sum from its register.
template <class Scalar>
__device__ inline Scalar sum_of(std::uint32_t bits) {
  if constexpr (std::is_same_v<Scalar, float>) {
    return __uint_as_float(bits);
  } else {
    return static_cast<Scalar>(bits);
  }
}

/// An element of C from its sum. With beta = 0 the old one is not read: it may be NaN.
template <class Out, class Scalar>
__device__ inline Scalar finished(const TiledProduct<Out, Scalar>& p, int row, int column,
                                  Scalar sum) {
  const Scalar scaled = p.alpha * sum;
  if (p.beta == Scalar(0) || row >= p.m || column >= p.n) return scaled;
  return p.beta * static_cast<Scalar>(p.c(row, column)) + scaled;
}

template <class Scalar>
__device__ inline std::uint32_t bits_of(Scalar x) {
  std::uint32_t bits = 0;
  memcpy(&bits, &x, 4);
  return bits;
}

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

/// Two neighbours of a row as 32 bits.
template <class Out>
__device__ inline std::uint32_t packed(float first, float second) {
  const Out pair[2] = {Out(first), Out(second)};
  std::uint32_t bits = 0;
  memcpy(&bits, pair, 4);
  return bits;
}

/// Stores a warp's sums straight from the registers: any C, two elements at once where its rows
/// start on 16 bytes. The old C is looked at only if `beta` says that there is one.
template <bool beta, class Out, class Scalar, int Count>
__device__ inline void store_sums(const TiledProduct<Out, Scalar>& p,
                                  const std::uint32_t (&sums)[Count], int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const int r = row + lane / 4 + i % 4 / 2 * 8, c = column + i / 4 * 8 + lane % 4 * 2;
    if (r >= p.m) continue;
    Scalar first = p.alpha * sum_of<Scalar>(sums[i]);
    Scalar second = p.alpha * sum_of<Scalar>(sums[i + 1]);
    if constexpr (beta) {
      first = finished(p, r, c, sum_of<Scalar>(sums[i]));
      second = finished(p, r, c + 1, sum_of<Scalar>(sums[i + 1]));
    }
    if (p.tma_stores && c + 1 < p.n) {
      if constexpr (sizeof(Out) == 2) {
        *reinterpret_cast<std::uint32_t*>(&p.c(r, c)) = packed<Out>(first, second);
      } else {
        *reinterpret_cast<uint2*>(&p.c(r, c)) = make_uint2(bits_of(first), bits_of(second));
      }
    } else {
      if (c < p.n) p.c(r, c) = Out(first);
      if (c + 1 < p.n) p.c(r, c + 1) = Out(second);
    }
  }
}

template <class Out, class Scalar, int Count>
__device__ inline void store_from_registers(const TiledProduct<Out, Scalar>& p,
                                            const std::uint32_t (&sums)[Count], int row,
                                            int column) {
  if (p.beta == Scalar(0)) return store_sums<false>(p, sums, row, column);
  store_sums<true>(p, sums, row, column);
}

/// Writes four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l
/// / 8.
__device__ inline void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// Bytes of a row that a warp hands to TMA at once, and of its 16 rows.
inline constexpr int staged_row_bytes = 128, staged_bytes = 16 * staged_row_bytes;
template <class Out>
inline constexpr int staged_columns = staged_row_bytes / static_cast<int>(sizeof(Out));
/// Buffers a warp: one is filled while the other is read. They take turns over tiles too, so that a
/// tile's columns fill each as often.
inline constexpr int staging_slots = 2;

/// Address of a 16-byte word of a row in a buffer as TMA wants it: word w of row r at w ^ (r
/// % 8).
__device__ inline std::uint32_t staged_word(std::uint32_t buffer, int row, int word) {
  return buffer + row * staged_row_bytes + (word ^ (row % 8)) * 16;
}

/// Fills a buffer with 64 columns of 16-bit elements, 32 pairs a thread from the first on.
template <int Count>
__device__ inline void stage_pairs(const std::uint32_t (&pairs)[Count], int first,
                                   std::uint32_t buffer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // Of the matrices of a store: 0 and 1 are rows 0 to 7 and 8 to 15 of 8 columns, 2 and 3 of the
  // next 8.
  const int own_row = lane / 8 % 2 * 8 + lane % 8, own_word = lane / 16;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    std::uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) r[i] = pairs[first + j * 4 + i];
    store_matrices(staged_word(buffer, own_row, j * 2 + own_word), r);
  }
}

/// A warp's finished sums as elements of C, in pairs of neighbours of a row.
template <class Out, int Count>
__device__ inline void pack(const std::uint32_t (&sums)[Count], std::uint32_t (&pairs)[Count / 2]) {
#pragma unroll
  for (int i = 0; i < Count / 2; ++i)
    pairs[i] = packed<Out>(sum_of<float>(sums[2 * i]), sum_of<float>(sums[2 * i + 1]));
}

/// Fills a buffer with 64 columns of 16-bit elements, the sums from the first on.
template <class Out, class Scalar, int Count>
__device__ inline void stage_chunk(const std::uint32_t (&sums)[Count], int first,
                                   std::uint32_t buffer) requires(sizeof(Out) == 2) {
  std::uint32_t pairs[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    pairs[i] =
        packed<Out>(sum_of<Scalar>(sums[first + 2 * i]), sum_of<Scalar>(sums[first + 2 * i + 1]));
  }
  stage_pairs(pairs, 0, buffer);
}

/// Fills a buffer with 32 columns of 32-bit elements.
template <class Out, class Scalar, int Count>
__device__ inline void stage_chunk(const std::uint32_t (&sums)[Count], int first,
                                   std::uint32_t buffer) requires(sizeof(Out) == 4) {
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

/// Stores a warp's finished sums through its buffers at `staging`, each 2 KiB that TMA
/// stores while the warp goes on, the last ones even while it multiplies the next tile. Ends with
/// stores under way.
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

template <class T>
__device__ inline T load_staged(std::uint32_t buffer, int row, int column) {
  constexpr int per_word = 16 / static_cast<int>(sizeof(T));
  const std::uint32_t address =
      staged_word(buffer, row, column / per_word) + column % per_word * sizeof(T);
  T x;
  if constexpr (sizeof(T) == 2) {
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(address) : "memory");
  } else {
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
  }
  return x;
}

/// Stores a warp's finished sums through its buffer and row by row, each in neighbouring lanes: for
/// a C whose rows start anywhere. 16-bit elements go in pairs from the first that starts on 4
/// bytes; the last lane has what is left at both ends.
template <class Out, class Scalar, int Count>
__device__ inline void store_by_rows(const TiledProduct<Out, Scalar>& p,
                                     const std::uint32_t (&sums)[Count], int row, int column,
                                     std::uint32_t buffer) {
  using Bits = std::conditional_t<sizeof(Out) == 2, std::uint16_t, std::uint32_t>;
  constexpr int columns = staged_columns<Out>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int chunk = 0; chunk < Count * 2 / columns; ++chunk) {
    const int to_column = column + chunk * columns, width = p.n - to_column;
    __syncwarp();
    stage_chunk<Out, Scalar>(sums, chunk * columns / 2, buffer);
    __syncwarp();
#pragma unroll 4
    for (int r = 0; r < 16; ++r) {
      if (row + r >= p.m) break;
      auto* const out = reinterpret_cast<Bits*>(&p.c(row + r, to_column));
      if constexpr (sizeof(Out) == 2) {
        const int odd = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / 2 % 2);
        const int first = lane * 2 + odd, second = (first + 1) % columns;
        const Bits x = load_staged<Bits>(buffer, r, first),
                   y = load_staged<Bits>(buffer, r, second);
        if (second > first && second < width) {
          *reinterpret_cast<std::uint32_t*>(out + first) = std::uint32_t{y} << 16 | x;
        } else {
          if (first < width) out[first] = x;
          if (second < width) out[second] = y;
        }
      } else {
        if (lane < width) out[lane] = load_staged<Bits>(buffer, r, lane);
      }
    }
  }
}

}  // namespace fathom::gemm
