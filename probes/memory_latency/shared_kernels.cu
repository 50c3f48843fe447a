#include <cooperative_groups.h>

#include "probes/memory_latency/chase.cuh"

namespace fathom::memory_latency {
namespace {

/// Shared memory of the own block.
template <SharedLoad kind>
struct Shared {
  std::uint32_t zero;  ///< at run time, so that no atomic can be simplified away

  __device__ std::uint32_t load(std::uint32_t p) const {
    std::uint32_t next;
    if constexpr (kind == SharedLoad::load)
      FATHOM_CHASE_LOAD("r", "ld.shared.u32 %0, [%1];");
    else if constexpr (kind == SharedLoad::atomic_add)
      FATHOM_CHASE_LOAD("r", "atom.shared.add.u32 %0, [%1], %2;", "r"(zero));
    else
      FATHOM_CHASE_LOAD("r", "atom.shared.cas.b32 %0, [%1], %2, %2;", "r"(zero));
    return next;
  }
};

/// Shared memory of any block of the cluster. Its machine instructions take generic addresses; here
/// the upper half stays in its register, where ld.shared::cluster would put it there anew between
/// one load and the next.
template <SharedLoad kind>
struct Cluster {
  std::uint32_t zero;
  std::uint32_t upper;  ///< half of the generic addresses of the cluster's shared memory

  __device__ std::uint32_t load(std::uint32_t p) const {
    std::uint32_t next;
#define FATHOM_GENERIC(ptx) "{ .reg .b64 a; mov.b64 a, {%1, %2}; " ptx " }"
    if constexpr (kind == SharedLoad::load)
      FATHOM_CHASE_LOAD("r", FATHOM_GENERIC("ld.u32 %0, [a];"), "r"(upper));
    else if constexpr (kind == SharedLoad::atomic_add)
      FATHOM_CHASE_LOAD("r", FATHOM_GENERIC("atom.add.u32 %0, [a], %3;"), "r"(upper), "r"(zero));
    else
      FATHOM_CHASE_LOAD("r", FATHOM_GENERIC("atom.cas.b32 %0, [a], %3, %3;"), "r"(upper),
                        "r"(zero));
    return next;
  }
};

/// Writes the chain at `words`, with the addresses that it has for the chasing thread.
__device__ void write_shared_chain(std::uint32_t* words, const Chain& chain) {
  Chain offsets = chain;
  offsets.base = 0;
  for (std::uint32_t k = threadIdx.x; k < chain.count; k += blockDim.x) {
    words[address_at(offsets, k) / 4] =
        static_cast<std::uint32_t>(address_at(chain, std::uint64_t{k} + 1));
  }
}

template <SharedLoad kind, Timed timed>
__global__ void chase_shared(Chase chase, std::uint32_t zero) {
  extern __shared__ std::uint32_t words[];
  Chain chain = chase.chain;
  chain.base = shared_address(words);
  write_shared_chain(words, chain);
  __syncthreads();
  begin_report(chase.report);
  if (threadIdx.x == 0) {
    run_chase<timed>(Shared<kind>{zero}, static_cast<std::uint32_t>(address_at(chain, 0)),
                     chain.base, chase);
  }
  end_report(chase.report);
}

// Only the mean: the compiler puts instructions between the clock and a generic load.
template <SharedLoad kind>
__global__ void chase_cluster(Chase chase, int target, std::uint32_t zero) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ std::uint32_t words[];
  const auto cluster = cooperative_groups::this_cluster();
  const auto generic = reinterpret_cast<std::uint64_t>(
      cluster.map_shared_rank(words, static_cast<unsigned>(target)));
  Chain chain = chase.chain;
  chain.base = static_cast<std::uint32_t>(generic);
  write_shared_chain(words, chain);
  cluster.sync();
  if (cluster.block_rank() == 0) {
    begin_report(chase.report);
    if (threadIdx.x == 0) {
      const Cluster<kind> space{zero, static_cast<std::uint32_t>(generic >> 32)};
      run_chase<Timed::mean>(space, static_cast<std::uint32_t>(address_at(chain, 0)), chain.base,
                             chase);
    }
    end_report(chase.report);
  }
  cluster.sync();  // a block that left would take its shared memory with it
#endif
}

template <class F>
auto with_load(SharedLoad load, F&& f) {
  return with_constant<SharedLoad::load, SharedLoad::atomic_add, SharedLoad::atomic_cas>(load, f);
}

}  // namespace

LaunchChase shared_chase(SharedLoad load, int shared_bytes) {
  return [=](const Chase& chase, cudaStream_t stream) {
    with_load(load, [&](auto kind) {
      with_timed(chase.timed, [&](auto how) {
        launch(chase_shared<kind, how>, {1, fill_threads, shared_bytes}, stream, chase,
               std::uint32_t{0});
      });
    });
  };
}

LaunchChase cluster_chase(SharedLoad load, int shared_bytes, int cluster_size, int target) {
  return [=](const Chase& chase, cudaStream_t stream) {
    with_load(load, [&](auto kind) {
      allow_any_cluster(chase_cluster<kind>);
      launch(chase_cluster<kind>, {cluster_size, fill_threads, shared_bytes, cluster_size}, stream,
             chase, target, std::uint32_t{0});
    });
  };
}

int largest_cluster(int major, int shared_bytes) {
  for (int size = major < 9 ? 1 : 16; size > 1; size /= 2)
    if (most_active_clusters(chase_cluster<SharedLoad::load>,
                             {size, fill_threads, shared_bytes, size}) > 0)
      return size;
  return 0;
}

}  // namespace fathom::memory_latency
