#include "probes/atomics/repeat.cuh"
#include "probes/device/launch.h"

namespace fathom::atomics {
namespace {

template <class A>
__global__ void __launch_bounds__(most_threads) global_atomics(Run run) {
  if constexpr (chip_has<A::instruction.since>()) {
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

}  // namespace

std::vector<Kernel> global_kernels() {
  return kernels_where<Level::l2>([](auto atomic) {
    using A = decltype(atomic);
    return Kernel{A::instruction.ptx(), launch<A>,
                  [](int threads) { return resident_blocks_of(global_atomics<A>, threads); }};
  });
}

}  // namespace fathom::atomics
