// Copies through shared memory by the asynchronous copy instructions.

#include "probes/copy_bandwidth/cache_hints.cuh"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/access.cuh"

namespace fathom::copy_bandwidth {

/// Each thread waits for its own 16 bytes only, so no barrier is needed.
__global__ void async_copy(const uint4* src, uint4* dst, std::size_t packs) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 staged[];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(shared_address(staged + threadIdx.x)), "l"(src + i) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  dst[i] = staged[threadIdx.x];
#endif
}

/// One thread drives the engine: a tile in, its arrival on the barrier, the tile out.
__global__ void bulk_copy(const std::byte* src, std::byte* dst, unsigned tile_bytes,
                          bool evict_last) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::byte tile[];
  __shared__ std::uint64_t arrived;
  if (threadIdx.x != 0) return;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile_bytes;
  const unsigned barrier = shared_address(&arrived);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
  // The engine works through the asynchronous proxy: it must see the barrier initialised.
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(barrier), "r"(tile_bytes) : "memory");
  if (evict_last) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;"
                 :: "r"(shared_address(tile)), "l"(src + first), "r"(tile_bytes), "r"(barrier),
                    "l"(eviction_policy<false>()) : "memory");
  } else {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :: "r"(shared_address(tile)), "l"(src + first), "r"(tile_bytes), "r"(barrier)
                 : "memory");
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n"
                 ".reg .pred arrived;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 arrived, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, arrived;\n"
                 "}" : "=r"(done) : "r"(barrier) : "memory");
  }
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :: "l"(dst + first), "r"(shared_address(tile)), "r"(tile_bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  // Shared memory must live until it has been read; the end of the grid completes the writes.
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

}  // namespace fathom::copy_bandwidth
