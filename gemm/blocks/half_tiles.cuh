#pragma once

#include <cstring>
#include <type_traits>

#include "gemm/blocks/async_copy.cuh"
#include "gemm/blocks/matrix.cuh"
#include "gemm/blocks/mma_sync.cuh"

// What several lessons of 16-bit elements share: a warp's place in a tile, its sums' way to C,
// tiles of `lines` lines of `length` elements, copied by words of 16 bytes, and a warp's fragments.

namespace fathom::gemm {

/// The product in row-major terms; in a lesson's kernel nothing is transposed.
template <class Element>
using HalfProduct = Product<Element, Element, float>;

/// Whether the chip that is compiled for multiplies matrices of this 16-bit type: fp16 from sm_75
/// on, bf16 from sm_80 on. A kernel for another is compiled empty, and never launched.
template <class Element>
inline constexpr bool has_matrix_products =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    std::is_same_v<Element, __half>;
#else
    true;
#endif

/// Eight warps of 64 x 64.
struct EightWarps {
  static constexpr int m = 128, n = 256, k = 32, threads = 256, warp_m = 64, warp_n = 64;
};

/// First row and column of this warp's part of a tile; neighbours have neighbouring columns.
struct WarpPlace {
  int m, n;
};
template <class Tile>
__device__ WarpPlace warp_place() {
  constexpr int warps_n = Tile::n / Tile::warp_n;
  static_assert(Tile::m / Tile::warp_m * warps_n * 32 == Tile::threads);
  // The same in all lanes, and known to be.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  return {warp / warps_n * Tile::warp_m, warp % warps_n * Tile::warp_n};
}

/// Four neighbours of a row of 16-bit elements, 8-byte aligned, of a row-major C.
template <class Element>
__device__ void store_vector(const Product<Element, Element, float>& p, int row, int column,
                             const float* sum) requires(sizeof(Element) == 2) {
  uint2* const c = reinterpret_cast<uint2*>(&p.c(row, column));
  Element x[4];
  if (p.beta != 0.0f) {
    const uint2 bits = *c;
    Element old[4];
    memcpy(old, &bits, sizeof old);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      x[i] = Element(fmaf(p.beta, static_cast<float>(old[i]), p.alpha * sum[i]));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = Element(p.alpha * sum[i]);
  }
  uint2 bits;
  memcpy(&bits, x, sizeof bits);
  *c = bits;
}

/// A warp's sums on their way to C: 16 rows of `Columns`, in shared memory of the warp's own.
template <int Columns>
struct StagedRows {
  /// Eight words between rows: four rows of eight neighbours lie in all banks.
  static constexpr int pitch = Columns + 8;
  static constexpr int floats = 16 * pitch;
  static constexpr int bytes = floats * static_cast<int>(sizeof(float));

  /// Stores them to C from (row, column) on, four neighbours a lane: C's lines start on four
  /// elements. For whole warps, which have written the rows before and may do so again after.
  template <class Out>
  static __device__ void store(const float* staged, const Product<Out, Out, float>& p, int row,
                               int column) {
    constexpr int lanes = Columns / 4;  // of a row
    const int lane = static_cast<int>(threadIdx.x) % 32, own_column = lane % lanes * 4;
    __syncwarp();
#pragma unroll
    for (int r = lane / lanes; r < 16; r += 32 / lanes)
      store_vector(p, row + r, column + own_column, staged + r * pitch + own_column);
    __syncwarp();
  }
};

/// Lines with a word of padding: neighbouring lines start in other banks.
template <int length>
struct PaddedWords {
  static constexpr int pitch = length + 8;
  __device__ static int offset(int line, int word) { return line * pitch + word * 8; }
};

/// Lines one behind the other, each with its words exchanged: eight lines have a word in all banks.
template <int length>
struct SwizzledWords {
  static constexpr int pitch = length, words = length / 8;
  static constexpr int lines_of_banks = words < 8 ? 8 / words : 1, kinds = words < 8 ? words : 8;
  __device__ static int offset(int line, int word) {
    return line * pitch + (word ^ line / lines_of_banks % kinds) * 8;
  }
};

/// Calls `use` with each of this thread's words of a tile: its number, its line, its place.
template <int lines, int length, int threads, class Use>
__device__ inline void each_word(const Use& use) {
  constexpr int words = length / 8, step = threads / words;
  const int line = static_cast<int>(threadIdx.x) / words, word = threadIdx.x % words;
#pragma unroll
  for (int i = 0; i < lines / step; ++i) use(i, line + i * step, word);
}

/// This thread's words of a tile, from global memory to registers.
template <int lines, int length, int threads, class Element>
__device__ inline void fetch_words(uint4 (&to)[lines * length / 8 / threads], const Element* from,
                                   std::int64_t ld) {
  each_word<lines, length, threads>([&](int i, int line, int word) {
    to[i] = *reinterpret_cast<const uint4*>(from + line * ld + word * 8);
  });
}

/// The same words, from registers to shared memory.
template <template <int> class Layout, int lines, int length, int threads, class Element>
__device__ inline void put_words(Element* to, const uint4 (&from)[lines * length / 8 / threads]) {
  each_word<lines, length, threads>([&](int i, int line, int word) {
    *reinterpret_cast<uint4*>(to + Layout<length>::offset(line, word)) = from[i];
  });
}

/// The same words from global to shared memory, past the registers.
template <template <int> class Layout, int lines, int length, int threads, class Element>
__device__ inline void copy_words(Element* to, const Element* from, std::int64_t ld) {
  each_word<lines, length, threads>([&](int, int line, int word) {
    async_copy<16>(to + Layout<length>::offset(line, word), from + line * ld + word * 8);
  });
}

/// What a warp's products of 16 of k take, 64 rows of A and 64 columns of B, by eight ldmatrix.
struct WarpFragments {
  std::uint32_t a[4][4], b[4][4];

  /// From tiles m x k and k x n; `k`: of the tile.
  template <class LayoutA, class LayoutB, class Element>
  __device__ void load(const Element* tile_a, const Element* tile_b, WarpPlace place, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32, line = lane % 16, word = lane / 16;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      load_matrices<false>(
          a[i], shared_address(tile_a + LayoutA::offset(place.m + i * 16 + line, k / 8 + word)));
#pragma unroll
    for (int j = 0; j < 4; ++j)
      load_matrices<true>(
          b[j], shared_address(tile_b + LayoutB::offset(k + line, (place.n + j * 16) / 8 + word)));
  }
};

/// A warp's 64 x 64 of C, in fragments of 16 x 8.
struct WarpSums {
  float of[4][8][4] = {};

  /// 32 mma.sync. In serpentine order: where it turns, B's fragment is used for two rows in a row.
  template <class Element>
  __device__ void add(const WarpFragments& f) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int turned = i % 2 == 0 ? j : 7 - j;
        multiply_add<Element>(of[i][turned], f.a[i], f.b[turned / 2][turned % 2 * 2],
                              f.b[turned / 2][turned % 2 * 2 + 1]);
      }
    }
  }

  /// To C from (row, column) on, by way of `staged`, the warp's own piece of shared memory.
  template <class P>
  __device__ void store(float* staged, const P& p, int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const own = staged + lane / 4 * StagedRows<64>::pitch + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float(&s)[4] = of[i][j];
        *reinterpret_cast<float2*>(own + j * 8) = make_float2(s[0], s[1]);
        *reinterpret_cast<float2*>(own + 8 * StagedRows<64>::pitch + j * 8) =
            make_float2(s[2], s[3]);
      }
      StagedRows<64>::store(staged, p, row + i * 16, column);
    }
  }
};

}  // namespace fathom::gemm
