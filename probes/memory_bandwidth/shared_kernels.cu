#include <cooperative_groups.h>

#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/shared_stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

/// Shared memory of the own block.
struct Shared {
  using Address = std::uint32_t;
  using Offset = std::uint32_t;

  static __device__ __forceinline__ void load(Vector<4>& v, Address p) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v.word[0]) : "r"(p) : "memory");
  }
  static __device__ __forceinline__ void load(Vector<8>& v, Address p) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.word[0]), "=r"(v.word[1])
                 : "r"(p)
                 : "memory");
  }
  static __device__ __forceinline__ void load(Vector<16>& v, Address p) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "r"(p)
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<4>& v) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(v.word[0]) : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<8>& v) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(p), "r"(v.word[0]), "r"(v.word[1])
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<16>& v) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(p), "r"(v.word[0]),
                 "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
  }
};

template <Operation operation, int width>
__global__ void __launch_bounds__(shared_threads) stream_shared(SharedRun run) {
  extern __shared__ uint4 memory[];  // aligned for 16-byte accesses
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  fill_shared<operation>(words);
  __syncthreads();
  shared_stream<operation, width, Shared>(run, shared_address(words));
  __syncthreads();
  save_shared(words, run.after);
}

#if __CUDA_ARCH__ >= 900
/// Shared memory of another block of the cluster.
struct Cluster {
  using Address = std::uint32_t;
  using Offset = std::uint32_t;

  static __device__ __forceinline__ void load(Vector<4>& v, Address p) {
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v.word[0]) : "r"(p) : "memory");
  }
  static __device__ __forceinline__ void load(Vector<8>& v, Address p) {
    asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.word[0]), "=r"(v.word[1])
                 : "r"(p)
                 : "memory");
  }
  static __device__ __forceinline__ void load(Vector<16>& v, Address p) {
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "r"(p)
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<4>& v) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(p), "r"(v.word[0]) : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<8>& v) {
    asm volatile("st.shared::cluster.v2.u32 [%0], {%1, %2};" ::"r"(p), "r"(v.word[0]),
                 "r"(v.word[1])
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<16>& v) {
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(p), "r"(v.word[0]),
                 "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
  }
};
#endif

// From compute capability 9.0 on; elsewhere the kernel is empty and nothing launches it.
template <Operation operation, int width>
__global__ void __launch_bounds__(shared_threads) stream_cluster(SharedRun run) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ uint4 memory[];
  auto* words = reinterpret_cast<std::uint32_t*>(memory);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  std::uint32_t base;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(base)
               : "r"(shared_address(words)), "r"(next));
  fill_shared<operation>(words);
  cluster.sync();
  shared_stream<operation, width, Cluster>(run, base);
  cluster.sync();  // the own memory is read or written by another block until here
  save_shared(words, run.after);
#endif
}

using Kernel = void (*)(SharedRun);

template <Operation operation>
Kernel kernel_of_width(int width, bool cluster) {
  switch (width) {
    case 4:
      return cluster ? stream_cluster<operation, 4> : stream_shared<operation, 4>;
    case 8:
      return cluster ? stream_cluster<operation, 8> : stream_shared<operation, 8>;
    case 16:
      return cluster ? stream_cluster<operation, 16> : stream_shared<operation, 16>;
  }
  throw std::invalid_argument("an access is 4, 8 or 16 bytes wide");
}

Kernel kernel_of(Operation operation, int width, bool cluster) {
  switch (operation) {
    case Operation::load:
      return kernel_of_width<Operation::load>(width, cluster);
    case Operation::store:
      return kernel_of_width<Operation::store>(width, cluster);
    case Operation::copy:
      return kernel_of_width<Operation::copy>(width, cluster);
  }
  throw std::invalid_argument("no such operation");
}

/// `attribute` must outlive the configuration.
cudaLaunchConfig_t config_of(int blocks, int cluster_size, int shared_bytes, cudaStream_t stream,
                             cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(cluster_size);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(shared_threads);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = cluster_size > 1 ? 1 : 0;
  return config;
}

}  // namespace

Walk shared_walk(Operation operation, int width, int tiles) {
  constexpr std::uint64_t warps = shared_threads / warp_lanes;
  Walk walk;
  walk.tile = static_cast<std::uint64_t>(width) * warp_lanes *
              static_cast<std::uint64_t>(shared_loads(operation));
  walk.step = walk.tile;
  walk.tiles = tiles;
  switch (operation) {
    case Operation::load:
      walk.warp_offset = walk.tile;
      walk.span = shared_bytes_used;
      break;
    case Operation::store:
      walk.block_region = walk.span = shared_bytes_used / warps;
      break;
    case Operation::copy:
      walk.block_region = walk.span = shared_bytes_used / 2 / warps;
      break;
  }
  return walk;
}

void prepare_shared(Operation operation, int width, bool cluster, int shared_bytes) {
  const Kernel kernel = kernel_of(operation, width, cluster);
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  if (cluster)
    FATHOM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

void launch_shared(const SharedRun& run, cudaStream_t stream) {
  const bool cluster = run.cluster_size > 1;
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config =
      config_of(run.blocks, run.cluster_size, run.shared_bytes, stream, attribute);
  FATHOM_CUDA(cudaLaunchKernelEx(&config, kernel_of(run.operation, run.width, cluster), run));
}

int cluster_blocks(int major, int cluster_size, int shared_bytes) {
  if (major < 9) return 0;
  prepare_shared(Operation::load, 16, true, shared_bytes);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config =
      config_of(cluster_size, cluster_size, shared_bytes, nullptr, attribute);
  int clusters = 0;
  const cudaError_t status =
      cudaOccupancyMaxActiveClusters(&clusters, kernel_of(Operation::load, 16, true), &config);
  if (status != cudaSuccess) {
    cudaGetLastError();  // too large for this GPU: clears it
    return 0;
  }
  return clusters * cluster_size;
}

}  // namespace fathom::memory_bandwidth
