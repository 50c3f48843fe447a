#include "probes/atomics/kernel_lists.h"
#include "probes/atomics/repeat.cuh"
#include "probes/device/launch.h"

namespace fathom::atomics {
namespace {

FATHOM_WORD(Global, "global")

template <class A>
__global__ void __launch_bounds__(most_threads) global_atomics(Run run) {
  if constexpr (chip_has<A::since>()) {
    const std::uint32_t lane = threadIdx.x % 32, warps_per_block = blockDim.x / 32;
    const std::uint64_t first =
        reinterpret_cast<std::uint64_t>(run.memory) + lane * run.pattern.lane_bytes;
    begin(run.times);
    if (lane < run.pattern.active_lanes) {
      keep<A>(run, repeat<A>(first, run, blockIdx.x * warps_per_block + threadIdx.x / 32,
                             gridDim.x * warps_per_block));
    }
    __threadfence();  // until the reductions, which nothing else waits for, are performed
    end(run.times);
  }
}

template <class A>
void launch(const Run& run, int blocks, int threads, int, cudaStream_t stream) {
  global_atomics<A><<<blocks, threads, 0, stream>>>(run);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Form, class Scope, class Op, class Type, int since = 75>
Kernel kernel() {
  using A = Atomic<Form, Scope, Global, Op, Type, since>;
  return {A::ptx(), launch<A>,
          [](int threads) { return resident_blocks_of(global_atomics<A>, threads); }};
}

}  // namespace

std::vector<Kernel> global_kernels() {
  return {
      kernel<Atom, Gpu, Add, U32>(),
      kernel<Red, Gpu, Add, U32>(),
      kernel<Atom, Cta, Add, U32>(),
      kernel<Red, Cta, Add, U32>(),
      kernel<Atom, Sys, Add, U32>(),
      kernel<Red, Sys, Add, U32>(),
      kernel<Atom, Gpu, Add, S32>(),
      kernel<Red, Gpu, Add, S32>(),
      kernel<Atom, Gpu, Add, U64>(),
      kernel<Red, Gpu, Add, U64>(),
      kernel<Atom, Gpu, Add, F32>(),
      kernel<Red, Gpu, Add, F32>(),
      kernel<Atom, Gpu, Add, F64>(),
      kernel<Red, Gpu, Add, F64>(),
      kernel<Atom, Gpu, AddHalves, F16x2>(),
      kernel<Red, Gpu, AddHalves, F16x2>(),
      kernel<Atom, Gpu, AddHalves, Bf16x2, 90>(),
      kernel<Red, Gpu, AddHalves, Bf16x2, 90>(),
      kernel<Red, Gpu, AddVector, F32x4, 90>(),
      kernel<Atom, Gpu, Max, U32>(),
      kernel<Red, Gpu, Max, U32>(),
      kernel<Atom, Gpu, Min, S32>(),
      kernel<Red, Gpu, Min, S32>(),
      kernel<Atom, Gpu, Max, U64>(),
      kernel<Red, Gpu, Max, U64>(),
      kernel<Atom, Gpu, And, B32>(),
      kernel<Red, Gpu, And, B32>(),
      kernel<Atom, Gpu, Exch, B32>(),
      kernel<Atom, Gpu, Exch, B64>(),
      kernel<Atom, Gpu, Exch, B128, 90>(),
      kernel<Atom, Gpu, Cas, B32>(),
      kernel<Atom, Gpu, Cas, B64>(),
      kernel<Atom, Gpu, Cas, B128, 90>(),
  };
}

}  // namespace fathom::atomics
