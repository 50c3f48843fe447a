#include "probes/memory_latency/chase.cuh"

namespace fathom::memory_latency {
namespace {

/// `zero` is a run-time 0, so that no atomic can be simplified away.
template <GlobalLoad kind>
struct Global {
  std::uint64_t zero;

  __device__ std::uint64_t load(std::uint64_t p) const {
    std::uint64_t next;
    if constexpr (kind == GlobalLoad::cached)
      FATHOM_CHASE_LOAD("l", "ld.global.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::l2_only)
      FATHOM_CHASE_LOAD("l", "ld.global.cg.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::read_only)
      FATHOM_CHASE_LOAD("l", "ld.global.nc.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::system)
      FATHOM_CHASE_LOAD("l", "ld.global.cv.u64 %0, [%1];");
    else if constexpr (kind == GlobalLoad::atomic_add)
      FATHOM_CHASE_LOAD("l", "atom.global.add.u64 %0, [%1], %2;", "l"(zero));
    else
      FATHOM_CHASE_LOAD("l", "atom.global.cas.b64 %0, [%1], %2, %2;", "l"(zero));
    return next;
  }

  /// What atomics find is in the L2, and there they take it from.
  __device__ std::uint64_t warm(std::uint64_t p) const {
    constexpr bool atomic = kind == GlobalLoad::atomic_add || kind == GlobalLoad::atomic_cas;
    return Global < atomic ? GlobalLoad::l2_only : kind > {zero}.load(p);
  }
};

template <class Space>
__device__ void warm_up(const Space& space, const Chase& chase) {
  std::uint64_t seen = 0;
#pragma unroll 1
  for (int pass = 0; pass < chase.warm_passes; ++pass) {
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < chase.warm.count; i += warm_threads)
      seen += space.warm(address_of(chase.warm, i));
  }
  if (seen == 0x5EED5EED5EED5EEDull) chase.report->warmed = 1;
}

template <GlobalLoad kind, Timed timed>
__global__ void __launch_bounds__(warm_threads) chase_global(Chase chase, std::uint64_t zero) {
  const Global<kind> space{zero};
  begin_report(chase.report);
  warm_up(space, chase);
  __syncthreads();
  if (threadIdx.x == 0)
    run_chase<timed>(space, address_at(chase.chain, 0), chase.chain.base, chase);
  end_report(chase.report);
}

}  // namespace

__global__ void write_chain(Chain chain) {
  const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= chain.count) return;
  *reinterpret_cast<std::uint64_t*>(address_at(chain, k)) = address_at(chain, std::uint64_t{k} + 1);
}

void launch_global_chase(GlobalLoad load, int carveout_percent, const Chase& chase,
                         cudaStream_t stream) {
  using enum GlobalLoad;
  with_constant<cached, l2_only, read_only, system, atomic_add, atomic_cas>(load, [&](auto kind) {
    with_timed(chase.timed, [&](auto how) {
      const auto kernel = chase_global<kind, how>;
      FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                       carveout_percent));
      launch(kernel, {1, warm_threads}, stream, chase, std::uint64_t{0});
    });
  });
}

}  // namespace fathom::memory_latency
