#include "probes/atomics/kernel_lists.h"
#include "probes/atomics/repeat.cuh"
#include "probes/device/launch.h"
#include "probes/device/threads.cuh"

namespace fathom::atomics {
namespace {

/// Shared memory of the own block.
FATHOM_WORD(Shared, "shared")
/// Shared memory of any block of the cluster.
FATHOM_WORD(ClusterShared, "shared::cluster")

constexpr int cluster_size = 2;

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
  if constexpr (chip_has<A::since>()) {
    extern __shared__ __align__(128) std::uint32_t words[];
    constexpr bool cluster = std::is_same_v<typename A::Space, ClusterShared>;
    const std::uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const std::uint32_t window_words = run.pattern.slots * run.pattern.slot_bytes / 4;
    for (std::uint32_t i = threadIdx.x; i < window_words; i += blockDim.x) words[i] = run.start;
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
    for (std::uint32_t i = threadIdx.x; i < window_words; i += blockDim.x) out[i] = words[i];
  }
}

template <class A>
void launch(const Run& run, int blocks, int threads, int shared_bytes, cudaStream_t stream) {
  constexpr bool cluster = std::is_same_v<typename A::Space, ClusterShared>;
  ClusterLaunch(cluster ? cluster_size : 1, blocks, threads, shared_bytes, stream)(
      shared_atomics<A>, run);
}

template <class Form, class Scope, class Space, class Op, class Type, int since = 75>
Kernel kernel() {
  using A = Atomic<Form, Scope, Space, Op, Type, since>;
  return {A::ptx(), launch<A>,
          [](int threads) { return resident_blocks_of(shared_atomics<A>, threads); }};
}

template <class Form, class Op, class Type>
Kernel own_block() {
  return kernel<Form, Cta, Shared, Op, Type>();
}
template <class Form, class Op, class Type>
Kernel other_block() {
  return kernel<Form, ClusterScope, ClusterShared, Op, Type, 90>();
}

}  // namespace

std::vector<Kernel> shared_kernels() {
  return {
      own_block<Atom, Add, U32>(),         own_block<Red, Add, U32>(),
      own_block<Atom, Add, U64>(),         own_block<Red, Add, U64>(),
      own_block<Atom, Add, F32>(),         own_block<Red, Add, F32>(),
      own_block<Atom, Add, F64>(),         own_block<Red, Add, F64>(),
      own_block<Atom, AddHalves, F16x2>(), own_block<Red, AddHalves, F16x2>(),
      own_block<Atom, Max, U32>(),         own_block<Atom, Min, S32>(),
      own_block<Atom, And, B32>(),         own_block<Atom, Exch, B32>(),
      own_block<Atom, Cas, B32>(),         own_block<Atom, Cas, B64>(),
      other_block<Atom, Add, U32>(),       other_block<Red, Add, U32>(),
      other_block<Atom, Exch, B32>(),      other_block<Atom, Cas, B32>(),
  };
}

}  // namespace fathom::atomics
