#include "probes/atomics/atomic.cuh"
#include "probes/device/access.cuh"
#include "probes/device/launch.h"

// Shared memory of the own block, and of the next block of a cluster.

namespace fathom::atomics {
namespace {

// PTX, since cooperative groups have no clusters for the chips before compute capability 9.0.

/// The same word in the next block's shared memory.
__device__ std::uint32_t address_in_next_block(std::uint32_t own) {
  std::uint32_t rank, address;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  rank = (rank + 1) % cluster_size;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}

/// All threads of the cluster; what they wrote to each other's shared memory is seen behind it.
__device__ void synchronize_cluster() {
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

template <class A>
__global__ void __launch_bounds__(most_threads) shared_atomics(Run run) {
  if constexpr (chip_has<A::instruction.since>()) {
    extern __shared__ __align__(128) std::uint32_t words[];
    constexpr bool cluster = A::instruction.level == Level::cluster;
    const std::uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const std::uint32_t window_words = run.pattern.slots * run.pattern.slot_bytes / 4;
    for (std::uint32_t w = threadIdx.x; w < window_words; w += blockDim.x) words[w] = run.start;
    std::uint32_t base = shared_address(words);
    if constexpr (cluster) {
      base = address_in_next_block(base);
      synchronize_cluster();
    } else {
      __syncthreads();
    }
    begin(run.times);
    if (lane < run.pattern.active_lanes)
      keep<A>(run, repeat<A>(base + lane * run.pattern.lane_bytes, run, threadIdx.x / 32, warps));
    if constexpr (cluster) __threadfence();  // as for global memory: the other SM performs them
    end(run.times);
    if constexpr (cluster) {
      // The own memory is whole once the other block is done with it; nor may it leave before.
      synchronize_cluster();
    } else {
      __syncthreads();
    }
    auto* out =
        reinterpret_cast<std::uint32_t*>(run.memory) + std::uint64_t{blockIdx.x} * window_words;
    for (std::uint32_t w = threadIdx.x; w < window_words; w += blockDim.x) out[w] = words[w];
  }
}

}  // namespace

Kernel shared_kernel(const Instruction& instruction) {
  return with_place<all_instructions>(
      instruction, [](auto place) -> Kernel {
        if constexpr (all_instructions[place].level == Level::l2)
          return nullptr;
        else
          return shared_atomics<Atomic<place>>;
      });
}

}  // namespace fathom::atomics
