#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>

#include "gemm/blocks/tma.cuh"
#include "harness/wgmma_operands.cuh"

// Asynchronous products of a warpgroup, wgmma (PTX ISA, "Asynchronous warpgroup level matrix
// multiply-accumulate"; compute capability 9.0 alone), of tiles in shared memory as TMA fills them.

namespace fathom::gemm {

/// An operand's tile in shared memory is a row of blocks of 64 of its outer dimension by 64 of k
/// (of 16-bit elements), each as TMA leaves a box with the 128-byte swizzle: 64 lines of 128 bytes,
/// along k (Major::k) or along the outer dimension (Major::outer).
inline constexpr int block_side = 64, block_bytes = 64 * 128;

/// What wgmma is told of a tile at a shared-memory address that is a multiple of 1024 but for steps
/// of k: the address, two strides, all in units of 16 bytes, and swizzle mode 1 (128 bytes) in bits
/// 62 and 63. Major::k has no use for the first stride, and the second leads from 8 lines to the
/// next 8. For Major::outer the first leads from 64 elements of the outer dimension to the next 64,
/// the second from 8 of k to the next 8 (PTX ISA, "Strides" of the shared-memory matrix layout).
template <Major major>
__device__ inline std::uint64_t tile_descriptor(std::uint32_t address) {
  constexpr std::uint64_t first = major == Major::k ? 1 : block_bytes >> 4;
  constexpr std::uint64_t constant =
      std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32 | first << 16;
  return constant | (address & 0x3FFFF) >> 4;
}

/// From a step of k (32 bytes of it) to the next, in a descriptor's units.
template <Major major>
inline constexpr int step_units = major == Major::k ? 32 >> 4 : 16 * 128 >> 4;

/// Before the first of a series of products: the registers are what the threads made them.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes a group of products.
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `Pending` groups are under way.
template <int Pending>
__device__ inline void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// No instruction that reads sums may go before this, though it names none of what it waits for.
template <int Count>
__device__ inline void fence_accumulators(std::uint32_t (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

#define FATHOM_WGMMA_PTX(n, k_and_types, operands, add)                              \
  "{\n.reg .pred p;\nsetp.ne.b32 p, " add                                            \
  ", 0;\n"                                                                           \
  "wgmma.mma_async.sync.aligned.m64n" #n k_and_types " {" FATHOM_WGMMA_SUM_NAMES_##n \
      "}, " operands ";\n}"

// What follows a product's operands: none is negated, and how those of 16 bits lie.
#define FATHOM_WGMMA_16_BITS(a_major, b_major) ", 1, 1, " a_major ", " b_major
#define FATHOM_WGMMA_FLOATS(...) ", 1, 1"
#define FATHOM_WGMMA_INTEGERS(...) ""

/// d[] (64 x N, N / 2 registers a thread) becomes A B, plus what it was if `add`; 32 bytes of k.
/// fp32 operands are used as tf32: their last 13 bits are cut off.
#define FATHOM_MULTIPLY(n, a_, b_, add_, a_major_, b_major_, unused, type, k_and_types, modifiers) \
  template <Major a_major, Major b_major>                                                          \
  __device__ inline void multiply(type, std::uint32_t(&d)[n / 2], std::uint64_t a,                 \
                                  std::uint64_t b, bool add) {                                     \
    static_assert(sizeof(type) == 2 || (a_major == Major::k && b_major == Major::k));              \
    asm volatile(                                                                                  \
        FATHOM_WGMMA_PTX(n, k_and_types, a_ ", " b_ ", p" modifiers(a_major_, b_major_), add_)     \
        : FATHOM_WGMMA_SUMS_##n                                                                    \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),              \
          "n"(static_cast<int>(b_major)));                                                         \
  }
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY, __half, "k16.f32.f16.f16", FATHOM_WGMMA_16_BITS)
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY, __nv_bfloat16, "k16.f32.bf16.bf16", FATHOM_WGMMA_16_BITS)
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY, float, "k8.f32.tf32.tf32", FATHOM_WGMMA_FLOATS)
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY, __nv_fp8_e4m3, "k32.f32.e4m3.e4m3", FATHOM_WGMMA_FLOATS)
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY, std::int8_t, "k32.s32.s8.s8", FATHOM_WGMMA_INTEGERS)

#undef FATHOM_MULTIPLY

/// How lessons cut a product into tiles, C (m x n) = A (m x k) B (k x n) in row-major terms.
struct WgmmaConfig {
  int consumers = 2;  ///< warpgroups that multiply
  int m_blocks = 1;   ///< blocks of 64 rows of each
  int n = 256;        ///< columns of a block's tile
  int stages = 4;     ///< of the ring
  int cluster_m = 1;  ///< blocks of a cluster one below the other: they load each tile of B once

  static constexpr int cluster_n = 1, split_k = 1;

  __host__ __device__ constexpr int m() const { return 64 * m_blocks * consumers; }
  __host__ __device__ constexpr int threads() const { return 128 * (consumers + 1); }
  __host__ __device__ constexpr int cluster() const { return cluster_m; }
  __host__ __device__ constexpr int sharing() const { return cluster_m; }
  __host__ __device__ constexpr int a_bytes() const { return m() * 128; }
  __host__ __device__ constexpr int stage_bytes() const { return (m() + n) * 128; }
};

/// Where a block of a cluster stands in it.
template <auto d>
struct ClusterPlace {
  int rank, m, n, k;
  __device__ ClusterPlace() {
    const unsigned r = d.cluster() == 1 ? 0 : cluster_rank();  // unsigned: a mask and a shift each
    rank = static_cast<int>(r);
    m = static_cast<int>(r % d.cluster_m);
    n = static_cast<int>(r / d.cluster_m % d.cluster_n);
    k = static_cast<int>(r / (d.cluster_m * d.cluster_n));
  }
  /// Rank of the block of the same part of k at (m, n).
  __device__ int rank_of(int m, int n) const { return (k * d.cluster_n + n) * d.cluster_m + m; }
  /// Rank of one that shares a tile with this one: first its column, then the rest of its row.
  __device__ int sharer(int i) const {
    if (i < d.cluster_m) return rank_of(i, n);
    const int other = i - d.cluster_m;
    return rank_of(m, other + (other >= n));
  }
  /// Those of its row, which share its A, and of its column, which share its B, as bits.
  __device__ std::uint16_t row() const {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < d.cluster_n; ++i) bits |= 1u << rank_of(m, i);
    return static_cast<std::uint16_t>(bits);
  }
  __device__ std::uint16_t column() const {
    return static_cast<std::uint16_t>(((1u << d.cluster_m) - 1) << rank_of(0, n));
  }
};

/// Tells every block that loads for this warp's block that the warp has read the stage.
template <auto d>
__device__ inline void release(const TileRing<d>& ring, int stage, const ClusterPlace<d>& place) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (d.sharing() == 1) {
    if (lane == 0) arrive(ring.empty(stage));
  } else {
    if (lane < d.sharing()) arrive_at(ring.empty(stage), place.sharer(lane));
  }
}

/// Sums of one warpgroup: of each of its blocks of 64 rows, N columns.
template <auto d>
struct Sums {
  std::uint32_t of[d.m_blocks][d.n / 2];
};

/// Gives the sums a value that the compiler cannot know: a known one it would set just before the
/// first product reads it, between products under way, which would wait for each other.
template <auto d>
__device__ inline void start(Sums<d>& sums) {
#pragma unroll
  for (int i = 0; i < d.m_blocks; ++i) {
#pragma unroll
    for (std::uint32_t& sum : sums.of[i]) sum = 0;
    fence_accumulators(sums.of[i]);
  }
}

/// Issues the products of one stage for the warpgroup whose first block of A is `a_block`, by the
/// columns of B from `column` on, a multiple of 64; commits them as one group or as two.
template <class In, Major a_major, Major b_major, int groups = 1, auto d, auto of_sums>
__device__ inline void multiply_stage(const TileRing<d>& ring, int stage, int a_block,
                                      Sums<of_sums>& sums, bool add, int column = 0) {
  const std::uint64_t a = tile_descriptor<a_major>(ring.a(stage) + a_block * block_bytes);
  const std::uint64_t b = tile_descriptor<b_major>(ring.b(stage) + column * 128);
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    if (groups == 2 && step == 2) wgmma_commit_group();
#pragma unroll
    for (int i = 0; i < d.m_blocks; ++i) {
      multiply<a_major, b_major>(In{}, sums.of[i],
                                 a + step * step_units<a_major> + i * (block_bytes >> 4),
                                 b + step * step_units<b_major>, add || step > 0);
    }
  }
  wgmma_commit_group();
}

// A warp has 16 rows of its warpgroup's sums; sum 4 j + i of a thread is column 8 j + 2 (lane % 4)
// + i % 2 of row lane / 4 + 8 (i / 2) (PTX ISA, the fragment of D of wgmma).

/// A product that kernels by TMA compute tile by tile, in row-major terms; k and alpha are not 0.
template <class Out, class Scalar>
struct TiledProduct {
  CUtensorMap map_a, map_b, map_c;
  int m, n;
  int depth;             ///< stages of k
  int tiles_m, tiles_n;  ///< entries of the scheduler (tile_ring.cuh)
  int first, step, end;  ///< of the scheduler, for the first cluster: in cluster tiles
  Scalar alpha, beta;
  Matrix<Out> c;
  bool tma_stores;  ///< map_c can be used: c's rows are contiguous, start and end on 16 bytes
};

/// A sum from its register, and the register's content from it.
template <class Scalar>
__device__ inline Scalar sum_of(std::uint32_t bits) {
  return __builtin_bit_cast(Scalar, bits);
}
template <class Scalar>
__device__ inline std::uint32_t bits_of(Scalar x) {
  return __builtin_bit_cast(std::uint32_t, x);
}

/// Two neighbours of a row as 32 bits.
template <class Out>
__device__ inline std::uint32_t packed(float first, float second) {
  const Out pair[2] = {Out(first), Out(second)};
  std::uint32_t bits = 0;
  memcpy(&bits, pair, 4);
  return bits;
}

}  // namespace fathom::gemm
