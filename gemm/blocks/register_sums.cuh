#pragma once

#include "gemm/blocks/cluster_sum.cuh"
#include "gemm/blocks/register_operand.cuh"
#include "gemm/blocks/tf32_split.cuh"

// How a warpgroup multiplies with its operand from registers: one product of tf32, or three that
// make one of fp32.

namespace fathom::gemm {

/// How a kernel cuts a product whose first operand goes through registers, in row-major terms.
struct RegisterKernelConfig {
  int columns = 256;  ///< of a block's tile; it has 128 rows, 64 of each of two warpgroups
  int stages = 4;     ///< of the ring
  int cluster_m =
      1;  ///< blocks of a cluster one below the other: they load the second operand once
  int cluster_n = 1;        ///< and beside each other: they load the first once
  int split_k = 1;          ///< blocks of a cluster that share the k of one tile
  int band = 8;             ///< cluster rows that are gone through column by column
  bool persistent = false;  ///< as many blocks as the GPU holds, from tile to tile
  bool serpentine = false, narrow_b = false, has_tail = false;  ///< as in KernelConfig
  int parent_m = 1, parent_n = 1;                               ///< too
  /// Three products of the operands' high and low parts; of the second operand both parts are
  /// planes in memory (gemm/tf32_planes.h).
  bool three_products = false;

  __host__ __device__ constexpr int planes() const { return three_products ? 2 : 1; }
  /// What the ring is told: its second operand has the columns of all planes.
  __host__ __device__ constexpr KernelConfig ring() const {
    return {.n = columns * planes(),
            .stages = stages,
            .cluster_m = cluster_m,
            .cluster_n = cluster_n,
            .split_k = split_k,
            .band = band,
            .persistent = persistent,
            .a_in_registers = true,
            .serpentine = serpentine,
            .narrow_b = narrow_b,
            .has_tail = has_tail,
            .parent_m = parent_m,
            .parent_n = parent_n};
  }
  /// The same of the sums.
  __host__ __device__ constexpr KernelConfig sums() const {
    KernelConfig d = ring();
    d.n = columns;
    return d;
  }
};

/// What a warpgroup multiplies from.
template <RegisterKernelConfig d>
struct RegisterSource {
  TileRing<d.ring()> ring;
  ClusterPlace<d.ring()> place;
  int warpgroup;

  template <Major major>
  __device__ void load(StageFragment& fragment, const RingPosition<d.stages>& position) const {
    wait(ring.full(position.stage), position.parity);
    load_fragment<major>(fragment, ring.a(position.stage) + warpgroup * block_bytes,
                         static_cast<int>(threadIdx.x) / 32 % 4,
                         static_cast<int>(threadIdx.x) % 32);
  }
  /// Goes past stages that other warpgroups multiply.
  __device__ void pass(RingPosition<d.stages>& position, int steps) const {
    for (int step = 0; step < steps; ++step) {
      wait(ring.full(position.stage), position.parity);
      release(ring, position.stage, place);
      position.advance();
    }
  }
  __device__ std::uint64_t columns(int stage) const {
    return tile_descriptor<Major::k>(ring.b(stage));
  }
};

/// Multiplies `steps` stages from `position` on and leaves it behind them. While a stage's products
/// are under way, the threads load what the next stage's take: the two have registers of their own,
/// and a loop of two stages, since the compiler would wait for products whose registers it moves.
template <Major major, RegisterKernelConfig d>
__device__ inline void accumulate_tf32(const RegisterSource<d>& source,
                                       RingPosition<d.stages>& position, int steps,
                                       std::uint32_t (&sums)[d.columns / 2]) {
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
      const std::uint64_t b = source.columns(here);
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

/// The same of fp32. The tensor cores cut off what they add up, always towards zero, so that over
/// a long k the error would grow with k rather than with its root: each stage has sums of its own,
/// which the threads add up in fp32, rounding. Within a stage the small products come first, while
/// there is little to cut off from.
template <Major major, RegisterKernelConfig d>
__device__ inline void accumulate_fp32(const RegisterSource<d>& source,
                                       RingPosition<d.stages>& position, int steps,
                                       std::uint32_t (&sums)[d.columns / 2]) {
#pragma unroll
  for (std::uint32_t& sum : sums) sum = 0;
  if (steps == 0) return;
  std::uint32_t stage_sums[d.columns / 2];
#pragma unroll
  for (std::uint32_t& sum : stage_sums) sum = 0;
  fence_accumulators(stage_sums);
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
    const std::uint64_t b_high = source.columns(here);
    const std::uint64_t b_low = b_high + (d.columns * 128 >> 4);
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, stage_sums, low.of[s], b_high + s * step_units<Major::k>, s > 0);
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, stage_sums, high.of[s], b_low + s * step_units<Major::k>, true);
#pragma unroll
    for (int s = 0; s < 4; ++s)
      multiply(float{}, stage_sums, high.of[s], b_high + s * step_units<Major::k>, true);
    wgmma_commit_group();
    position.advance();
    if (step + 1 < steps) source.template load<major>(loaded, position);
    wgmma_wait_group<0>();
    fence_accumulators(stage_sums);
    release(source.ring, here, source.place);
#pragma unroll
    for (int i = 0; i < d.columns / 2; ++i)
      sums[i] = __float_as_uint(__uint_as_float(sums[i]) + __uint_as_float(stage_sums[i]));
  }
}

}  // namespace fathom::gemm
