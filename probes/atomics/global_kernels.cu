#include "probes/atomics/repeat.cuh"

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

}  // namespace

std::map<std::string, Kernel> global_kernels() {
  return kernels_where<Level::l2>(
      [](auto atomic) -> Kernel { return global_atomics<decltype(atomic)>; });
}

}  // namespace fathom::atomics
