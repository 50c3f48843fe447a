#include "probes/memory_bandwidth/stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

__device__ __forceinline__ void step(float& x, float factor, float term) {
  asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(factor), "f"(term));
}

}  // namespace

__global__ void __launch_bounds__(register_threads) read_registers(RegisterRun run) {
  // Each chain has operands of its own, so that no two multiply-adds in a row share one, which the
  // second would take from the collector instead of the register file; and each lane has a copy,
  // since what all lanes share the compiler keeps in uniform registers. Compiled for sm_90a, no
  // operand has the reuse flag, and of the three of each instruction two are even registers and one
  // odd or the reverse, both equally often: an H200 takes 1.99 operands a clock and lane, which
  // fits two banks (even and odd) that give one each.
  float factors[register_chains][2], terms[register_chains][2], x[register_chains];
  const float* operand = run.operands + threadIdx.x % warp_lanes;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      factors[c][parity] = operand[(c * 4 + parity) * warp_lanes];
      terms[c][parity] = operand[(c * 4 + 2 + parity) * warp_lanes];
    }
  }
#pragma unroll
  for (int c = 0; c < register_chains; ++c)
    x[c] = register_start(static_cast<int>(threadIdx.x % warp_lanes), c);
  __syncthreads();
  Stopwatch stopwatch(run.reports + grid_warp());
#pragma unroll 1
  for (int i = 0; i < run.iterations; ++i) {
#pragma unroll
    for (int s = 0; s < register_steps; ++s) {
#pragma unroll
      for (int c = 0; c < register_chains; ++c) step(x[c], factors[c][s % 2], terms[c][s % 2]);
    }
  }
  // A sum of zero that is known only when every chain has ended.
  std::uint32_t bits = 0;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) bits |= __float_as_uint(x[c]);
  stopwatch.stop(bits == 0xFFFFFFFFu ? 1 : 0);
  float* after = run.after + (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) *
                                 register_chains;
#pragma unroll
  for (int c = 0; c < register_chains; ++c) after[c] = x[c];
}

}  // namespace fathom::memory_bandwidth
