#pragma once

#include "gemm/blocks/epilogue.cuh"
#include "gemm/blocks/operands.cuh"
#include "gemm/blocks/tile_order.cuh"

// A product by tiles in shared memory with element-wise loads that check every index: what the
// first rungs of half and fp64 are made of. They differ in the tile, in a thread's share and in
// where elements lie in shared memory.

namespace fathom::gemm {

/// Elements lie in shared memory as they are numbered: line k holds the tile's outer elements in order.
struct PlainLayout {
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return k * Outer + outer;
  }
  template <int Outer, int Depth>
  static constexpr int size = Outer * Depth;
};

/// A tile of BM x BN x BK, TM x TN neighbouring elements of C a thread. In shared memory and in registers
/// elements have the type of the sums.
template <int BM, int BN, int BK, int TM, int TN, class LayoutA = PlainLayout,
          class LayoutB = PlainLayout, class TypesOfProduct = SameTypes<float>>
struct BlockTile {
  using Types = TypesOfProduct;
  using In = typename Types::In;
  using Sum = typename Types::Scalar;
  using P = Product<In, typename Types::Out, Sum>;
  static constexpr int m = BM, n = BN, k = BK;
  static constexpr int threads_m = BM / TM, threads_n = BN / TN;
  static constexpr int threads = threads_m * threads_n;
  static constexpr int size_a = LayoutA::template size<BM, BK>, size_b = LayoutB::template size<BN, BK>;
  static_assert(BM * BK % threads == 0 && BN * BK % threads == 0 && threads <= 1024);
  static constexpr int per_thread_a = BM * BK / threads, per_thread_b = BN * BK / threads;

  struct Shared {
    alignas(16) Sum a[size_a];
    alignas(16) Sum b[size_b];
  };

  int thread_m = static_cast<int>(threadIdx.x) / threads_n;
  int thread_n = static_cast<int>(threadIdx.x) % threads_n;
  Sum sums[TM][TN];

  __device__ BlockTile() {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] = 0;
    }
  }

  static_assert(threads % BK == 0 && (threads % BN == 0 || BN % threads == 0));

  /// This thread's share of a tile of each operand on its way to shared memory, element by element:
  /// neighbouring threads along k of A and along n of B, as row-major operands lie. Elements beyond the
  /// matrices are zero.
  class ElementLoad {
   public:
    __device__ ElementLoad(const P& p, int tile_row, int tile_column)
        : row_(tile_row + a_row(0)),
          column_(tile_column + b_column(0)),
          from_a_(p.a.data + row_ * p.a.row_stride + a_k() * p.a.column_stride),
          from_b_(p.b.data + b_k(0) * p.b.row_stride + column_ * p.b.column_stride) {}

    /// The next tile along k, from `step` on.
    __device__ void load(const P& p, int step) {
      const bool in_k = step + a_k() < p.k;
#pragma unroll
      for (int i = 0; i < per_thread_a; ++i) {
        // Between two of a thread's elements of A lie as many rows everywhere.
        const int down = i * (threads / BK);
        a_[i] = in_k && row_ + down < p.m ? from_a_[down * p.a.row_stride] : In(0.0f);
      }
#pragma unroll
      for (int i = 0; i < per_thread_b; ++i) {
        const int down = i * threads / BN, right = BN > threads ? i * threads % BN : 0;
        const bool inside = step + b_k(0) + down < p.k && column_ + right < p.n;
        b_[i] = inside ? from_b_[down * p.b.row_stride + right * p.b.column_stride] : In(0.0f);
      }
      from_a_ += BK * p.a.column_stride;
      from_b_ += BK * p.b.row_stride;
    }

    __device__ void store(Shared& s) const {
#pragma unroll
      for (int i = 0; i < per_thread_a; ++i)
        s.a[LayoutA::template slot<BM, TM>(a_k(), a_row(i))] = static_cast<Sum>(a_[i]);
#pragma unroll
      for (int i = 0; i < per_thread_b; ++i)
        s.b[LayoutB::template slot<BN, TN>(b_k(i), b_column(i))] = static_cast<Sum>(b_[i]);
    }

   private:
    static __device__ int number(int i) { return static_cast<int>(threadIdx.x) + i * threads; }
    static __device__ int a_row(int i) { return number(i) / BK; }
    static __device__ int a_k() { return number(0) % BK; }
    static __device__ int b_k(int i) { return number(i) / BN; }
    static __device__ int b_column(int i) { return number(i) % BN; }

    int row_, column_;                ///< of this thread's first elements
    const In *from_a_, *from_b_;      ///< where those lie
    In a_[per_thread_a], b_[per_thread_b];
  };

  /// A thread's part of one k.
  struct Fragment {
    Sum a[TM], b[TN];
  };

  __device__ void read(const Shared& s, int k, Fragment& f) const {
#pragma unroll
    for (int i = 0; i < TM; ++i) f.a[i] = s.a[LayoutA::template slot<BM, TM>(k, thread_m * TM + i)];
#pragma unroll
    for (int j = 0; j < TN; ++j) f.b[j] = s.b[LayoutB::template slot<BN, TN>(k, thread_n * TN + j)];
  }

  __device__ void add(const Fragment& f) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) sums[i][j] = fma(f.a[i], f.b[j], sums[i][j]);
    }
  }

  __device__ void multiply(const Shared& s) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      Fragment f;
      read(s, k, f);
      add(f);
    }
  }

  __device__ void store(const P& p, int tile_row, int tile_column) const {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int row = tile_row + thread_m * TM + i;
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int column = tile_column + thread_n * TN + j;
        if (row < p.m && column < p.n) store_element(p, row, column, sums[i][j]);
      }
    }
  }
};

/// The whole product of one block: load a tile, multiply, load the next.
template <class Tile>
__device__ void block_tile_product(const typename Tile::P& p, typename Tile::Shared& shared, int tiles_n) {
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n * Tile::m;
  const int tile_column = static_cast<int>(blockIdx.x) % tiles_n * Tile::n;
  Tile tile;
  typename Tile::ElementLoad load(p, tile_row, tile_column);
  for (int step = 0; step < p.k; step += Tile::k) {
    load.load(p, step);
    load.store(shared);
    __syncthreads();
    tile.multiply(shared);
    __syncthreads();  // before the next tile overwrites this one
  }
  tile.store(p, tile_row, tile_column);
}

}  // namespace fathom::gemm
