#pragma once

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/promoted_sums.cuh"
#include "gemm/blocks/tf32_split.cuh"
#include "gemm/blocks/tile_ring.cuh"
#include "gemm/blocks/wgmma.cuh"

// How a warpgroup multiplies with its operand from registers, one product of tf32 or three that
// make one of fp32, and how its sums get to C.

namespace fathom::gemm {

/// d[] becomes A B, plus what it was if `add`, with the first operand in registers (PTX ISA,
/// "Register Fragments" of wgmma .m64nNk8) and the second, along k, in shared memory. `a`: rows
/// lane / 4 and that + 8 of the warp's 16 at k lane % 4, then both at k lane % 4 + 4. The tensor
/// cores use the sign, the 8 bits of the exponent and the first 10 of the mantissa.
#define FATHOM_MULTIPLY_REGISTERS(n, a_0, a_1, a_2, a_3, b_, add_, type, k_and_types)         \
  __device__ inline void multiply(type, std::uint32_t(&d)[n / 2], const std::uint32_t(&a)[4], \
                                  std::uint64_t b, bool add) {                                \
    asm volatile(FATHOM_WGMMA_PTX(n, k_and_types,                                             \
                                  "{" a_0 "," a_1 "," a_2 "," a_3 "}, " b_ ", p, 1, 1", add_) \
                 : FATHOM_WGMMA_SUMS_##n                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                        \
                   "r"(static_cast<int>(add)));                                               \
  }
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_REGISTERS, float, "k8.f32.tf32.tf32")

#undef FATHOM_MULTIPLY_REGISTERS

// The first operand by way of registers: for 32-bit elements that are contiguous along the outer
// dimension, which wgmma does not read from shared memory, and for operands that the threads do
// something to first. A tile's blocks of 64 rows are one box of 64 lines along k (Major::k), or two
// of 32 lines of k with 32 elements of the outer dimension each (Major::outer).

/// A thread's elements of one stage: 4 steps of 8 of k, each as wgmma has it.
struct StageFragment {
  std::uint32_t of[4][4];
};

/// Which of a block's 64 rows stands for row lane / 4 + 8 `upper` of the warp's 16.
///
/// Contiguous along the outer dimension it is not the one of that number: a thread's two are
/// neighbours, to be loaded at once, and the 16 lanes of half a warp, 4 lines of k with 8 rows
/// each, take of every line two 16-byte words that are 4 apart: with the swizzle, 32 banks.
template <Major major>
__device__ inline int row_in_block(int warp, int lane, int upper) {
  if constexpr (major == Major::k) return warp * 16 + lane / 4 + upper * 8;
  return warp / 2 * 32 + warp % 2 * 8 + lane / 16 * 4 + lane / 8 % 2 * 16 + lane / 4 % 2 * 2 +
         upper;
}

/// What a warpgroup multiplies from.
template <KernelConfig d>
struct RegisterSource {
  TileRing<d> ring;
  ClusterPlace<d> place;
  int warpgroup;

  /// Loads a thread's elements of the stage at `position`, once it is full.
  template <Major major>
  __device__ void load(StageFragment& fragment, const RingPosition<d.stages>& position) const {
    wait(ring.full(position.stage), position.parity);
    const std::uint32_t block = ring.a(position.stage) + warpgroup * block_bytes;
    const int lane = static_cast<int>(threadIdx.x) % 32,
              warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (major == Major::k) {
        // A step is two words of a line; the lines of a warp's 8 rows lie in all banks.
        const int row = row_in_block<major>(warp, lane, i % 2);
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          asm volatile("ld.shared.b32 %0, [%1];"
                       : "=r"(fragment.of[step][i])
                       : "r"(block + row * 128 + ((step * 2 + i / 2) ^ row % 8) * 16 + lane % 4 * 4)
                       : "memory");
        }
      } else if (i % 2 == 0) {
        const int row = row_in_block<major>(warp, lane, 0), line = lane % 4 + i / 2 * 4;
        const int word = row % half_block_side / 4 ^ line;
        const std::uint32_t address =
            block + row / half_block_side * half_block_bytes + line * 128 + word * 16 + row % 4 * 4;
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          // Eight lines on, the swizzle is the same.
          asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                       : "=r"(fragment.of[step][i]), "=r"(fragment.of[step][i + 1])
                       : "r"(address + step * 8 * 128)
                       : "memory");
        }
      }
    }
  }
};

/// Multiplies `steps` stages from `position` on and leaves it behind them. While a stage's products
/// are under way, the threads load what the next stage's take: the two have registers of their own,
/// and a loop of two stages, since the compiler would wait for products whose registers it moves.
template <Major major, KernelConfig d>
__device__ inline void accumulate_tf32(const RegisterSource<d>& source,
                                       RingPosition<d.stages>& position, int steps,
                                       std::uint32_t (&sums)[d.n / 2]) {
  if (steps == 0) return;
  StageFragment fragments[2];
  source.template load<major>(fragments[0], position);
  int before = -1;
  for (int pair = 0; pair < steps; pair += 2) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int step = pair + half;
      if (step == steps) break;
      const int here = position.stage;
      const std::uint64_t b = tile_descriptor<Major::k>(source.ring.b(here));
      wgmma_fence();
#pragma unroll
      for (int s = 0; s < 4; ++s)
        multiply(float{}, sums, fragments[half].of[s], b + s * step_units<Major::k>,
                 step > 0 || s > 0);
      wgmma_commit_group();
      wgmma_wait_group<1>();
      if (before >= 0) release(source.ring, before, source.place);
      before = here;
      position.advance();
      if (step + 1 < steps) source.template load<major>(fragments[1 - half], position);
    }
  }
  wgmma_wait_group<0>();
  fence_accumulators(sums);
  release(source.ring, before, source.place);
}

/// The same of fp32. The tensor cores cut off what they add up, always towards zero, so that the
/// error would grow with k rather than with its root: each stage has sums of its own, which threads
/// add up in fp32, rounding. In a stage small products come first, while little is cut off.
template <Major major, KernelConfig d>
__device__ inline void accumulate_fp32(const RegisterSource<d>& source,
                                       RingPosition<d.stages>& position, int steps,
                                       std::uint32_t (&sums)[d.n / 2]) {
#pragma unroll
  for (std::uint32_t& sum : sums) sum = 0;
  if (steps == 0) return;
  StageSums<d.n> stage_sums;
  auto& of_stage = stage_sums.of[0];
  StageFragment loaded;
  source.template load<major>(loaded, position);
  for (int step = 0; step < steps; ++step) {
    StageFragment high, low;
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const SplitNumber x = split_tf32(loaded.of[s][i]);
        high.of[s][i] = x.high;
        low.of[s][i] = x.low;
      }
    }
    const int here = position.stage;
    const std::uint64_t b_high = tile_descriptor<Major::k>(source.ring.b(here));
    const std::uint64_t b_low = b_high + (d.n * 128 >> 4);
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, of_stage, low.of[s], b_high + s * step_units<Major::k>, s > 0);
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, of_stage, high.of[s], b_low + s * step_units<Major::k>, true);
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, of_stage, high.of[s], b_high + s * step_units<Major::k>, true);
    wgmma_commit_group();
    position.advance();
    if (step + 1 < steps) source.template load<major>(loaded, position);
    wgmma_wait_group<0>();
    release(source.ring, here, source.place);
    stage_sums.add_to(sums);
  }
}

/// Which elements of C a thread stores at once: neighbours in memory of two rows or of two columns.
enum class StoredPairs { none, rows, columns };

/// Stores a warp's sums of a block, in few instructions, since nothing is multiplied meanwhile. In
/// pairs the block must be inside C. Where `adds` is false, beta is 0 and C is not read.
template <Major major, StoredPairs pairs, bool adds, int Count>
__device__ inline void store_block_as(const TiledProduct<float, float>& p,
                                      const std::uint32_t (&sums)[Count], int first_row,
                                      int first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int row = first_row + row_in_block<major>(warp, lane, 0),
            other_row = first_row + row_in_block<major>(warp, lane, 1);
  int column = first_column + lane % 4 * 2;
  const std::int64_t next_row = (other_row - row) * p.c.row_stride, next_column = p.c.column_stride;
  float* c = &p.c(row, column);
  // A thread's four elements of every 8 columns: two columns of one row, then of the other.
#pragma unroll
  for (int i = 0; i < Count; i += 4, c += 8 * next_column, column += 8) {
    float* const of[4] = {c, c + next_column, c + next_row, c + next_row + next_column};
    float x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = p.alpha * sum_of<float>(sums[i + j]);
    if constexpr (pairs == StoredPairs::none) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if ((j < 2 ? row : other_row) < p.m && column + j % 2 < p.n) {
          if constexpr (adds) x[j] += p.beta * *of[j];
          *of[j] = x[j];
        }
      }
    } else {
      constexpr int second = pairs == StoredPairs::rows ? 2 : 1, next = 3 - second;
#pragma unroll
      for (int j = 0; j <= next; j += next) {
        auto* const pair = reinterpret_cast<float2*>(of[j]);
        if constexpr (adds) {
          const float2 old = *pair;
          x[j] += p.beta * old.x;
          x[j + second] += p.beta * old.y;
        }
        *pair = make_float2(x[j], x[j + second]);
      }
    }
  }
}

/// Stores a warp's sums of a block, for any C. Where C and its lines start and end on 16 bytes, two
/// neighbours in memory go at once, if a thread has them.
template <Major major, int Count>
__device__ inline void store_block(const TiledProduct<float, float>& p,
                                   const std::uint32_t (&sums)[Count], int first_row,
                                   int first_column) {
  const auto store = [&]<StoredPairs pairs>() {
    if (p.beta == 0) {
      store_block_as<major, pairs, false>(p, sums, first_row, first_column);
    } else {
      store_block_as<major, pairs, true>(p, sums, first_row, first_column);
    }
  };
  const bool inside = first_row + block_side <= p.m && first_column + Count * 2 <= p.n;
  if (inside && major == Major::outer && p.tma_stores && p.c.row_stride == 1) {
    store.template operator()<StoredPairs::rows>();
  } else if (inside && p.tma_stores && p.c.column_stride == 1) {
    store.template operator()<StoredPairs::columns>();
  } else {
    store.template operator()<StoredPairs::none>();
  }
}

/// A warpgroup's tiles: multiplied and, but for a split k, stored. Products of 128 rows took 2 %
/// longer on an H200 in the loop of the other kernels.
template <Major major, KernelConfig d>
__device__ inline void multiply_register_tiles(const TiledProduct<float, float>& p,
                                               const RegisterSource<d>& source) {
  const DepthRange range = depth_range<d>(p, source.place);
  RingPosition<d.stages> position;
  Sums<d> all;
  start(all);
  auto& sums = all.of[0];
  for (TileScheduler<d> scheduler(p); !scheduler.done(); scheduler.advance()) {
    const TileIndex corner = scheduler.corner(p, source.place);
    const int first_row = source.warpgroup * block_side;
    if (corner.m + first_row >= p.m) {
      // Goes past stages that the other warpgroup multiplies.
      for (int step = 0; step < range.count; ++step, position.advance()) {
        wait(source.ring.full(position.stage), position.parity);
        release(source.ring, position.stage, source.place);
      }
    } else if constexpr (d.three_products) {
      accumulate_fp32<major, d>(source, position, range.count, sums);
    } else {
      accumulate_tf32<major, d>(source, position, range.count, sums);
    }
    if constexpr (d.split_k > 1) {
      named_barrier(1, d.consumers * 128);  // both warpgroups have read the ring
      const int lane = static_cast<int>(threadIdx.x) % 32,
                warp = static_cast<int>(threadIdx.x) / 32 % 4;
      keep_partial<d.n>(source.ring.tiles, sums, [&](int upper) {
        return first_row + row_in_block<major>(warp, lane, upper);
      });
      return;
    } else {
      store_block<major>(p, sums, corner.m + first_row, corner.n);
    }
  }
}

}  // namespace fathom::gemm
