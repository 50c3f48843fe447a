#pragma once

#include "gemm/blocks/operands.cuh"

namespace fathom::gemm {

/// Whether whole tiles of `tile_m` x `tile_n` x `tile_k`, seen row-major, cover the product, and every
/// line of every matrix starts on 16 bytes, A contiguous along k and B along n: BLAS's NN.
inline bool is_whole_and_aligned(const Problem& p, int tile_m, int tile_n, int tile_k) {
  return p.transa == Transpose::no && p.transb == Transpose::no && p.n % tile_m == 0 &&
         p.m % tile_n == 0 && p.k % tile_k == 0 && p.k > 0 && p.alpha != 0 && p.lda % 4 == 0 &&
         p.ldb % 4 == 0 && p.ldc % 4 == 0;
}

/// This thread's share of a tile of each operand, on its way from global to shared memory by 16-byte
/// accesses: four of k of a row of A, which are stored as four lines of the transposed tile, and
/// four columns of a line of B. For tiles as `is_whole_and_aligned` allows.
template <class Tile, int Pitch_A, int Pitch_B>
class VectorLoad {
 public:
  __device__ VectorLoad(const Product<float>& p, int tile_row, int tile_column)
      : from_a_(&p.a(tile_row + a_row(0), a_k(0))),
        from_b_(&p.b(b_k(0), tile_column + b_column(0))),
        stride_a_(p.a.row_stride),
        stride_b_(p.b.row_stride) {}

  /// The next tile along k.
  __device__ void load() {
#pragma unroll
    for (int i = 0; i < vectors_a; ++i) {
      a_[i] = *reinterpret_cast<const float4*>(from_a_ + (a_row(i) - a_row(0)) * stride_a_);
    }
#pragma unroll
    for (int i = 0; i < vectors_b; ++i) {
      b_[i] = *reinterpret_cast<const float4*>(from_b_ + (b_k(i) - b_k(0)) * stride_b_);
    }
    from_a_ += Tile::k;
    from_b_ += Tile::k * stride_b_;
  }

  /// Into tiles of lines of `Pitch_A` and `Pitch_B` floats; `place`: of a column of B in its line.
  template <class Place>
  __device__ void store(float* tile_a, float* tile_b, const Place& place) const {
#pragma unroll
    for (int i = 0; i < vectors_a; ++i) {
      float* const to = tile_a + a_k(i) * Pitch_A + a_row(i);
      to[0] = a_[i].x;
      to[Pitch_A] = a_[i].y;
      to[2 * Pitch_A] = a_[i].z;
      to[3 * Pitch_A] = a_[i].w;
    }
#pragma unroll
    for (int i = 0; i < vectors_b; ++i)
      *reinterpret_cast<float4*>(tile_b + b_k(i) * Pitch_B + place(b_column(i))) = b_[i];
  }
  __device__ void store(float* tile_a, float* tile_b) const {
    store(tile_a, tile_b, [](int column) { return column; });
  }

 private:
  static constexpr int vectors_a = Tile::m * Tile::k / 4 / Tile::threads;
  static constexpr int vectors_b = Tile::n * Tile::k / 4 / Tile::threads;
  static_assert(vectors_a * 4 * Tile::threads == Tile::m * Tile::k && vectors_a > 0);
  static_assert(vectors_b * 4 * Tile::threads == Tile::n * Tile::k && vectors_b > 0);

  // Then only the row of A, or the line of B, depends on i.
  static_assert(Tile::threads % (Tile::k / 4) == 0 && Tile::threads % (Tile::n / 4) == 0);

  static __device__ int number(int i) { return static_cast<int>(threadIdx.x) + i * Tile::threads; }
  static __device__ int a_row(int i) { return number(i) / (Tile::k / 4); }
  static __device__ int a_k(int i) { return number(i) % (Tile::k / 4) * 4; }
  static __device__ int b_k(int i) { return number(i) / (Tile::n / 4); }
  static __device__ int b_column(int i) { return number(i) % (Tile::n / 4) * 4; }

  const float *from_a_, *from_b_;  ///< of this thread's first vectors
  std::int64_t stride_a_, stride_b_;
  float4 a_[vectors_a], b_[vectors_b];
};

}  // namespace fathom::gemm
