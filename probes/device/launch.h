#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "harness/cuda_check.h"

// How probes choose and launch kernels.

namespace fathom {

/// Calls `f` with the one of these constants that `value` is: a kernel's template argument. Throws
/// std::invalid_argument if it is none of them.
template <auto first, auto... rest, class F>
auto with_constant(decltype(first) value, F&& f) {
  if (value == first) return f(std::integral_constant<decltype(first), first>{});
  if constexpr (sizeof...(rest) > 0)
    return with_constant<rest...>(value, f);
  else
    throw std::invalid_argument("no kernel was compiled for this choice");
}

/// Blocks of so many threads that an SM holds at once.
template <class... Parameters>
int resident_blocks_of(void (*kernel)(Parameters...), int threads, std::size_t dynamic_shared = 0) {
  int blocks = 0;
  FATHOM_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_shared));
  return blocks;
}

/// Lets the kernel have so much dynamic shared memory, and says how many blocks an SM then holds.
template <class... Parameters>
int resident_blocks_with(void (*kernel)(Parameters...), int threads, int dynamic_shared) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_shared));
  return resident_blocks_of(kernel, threads, static_cast<std::size_t>(dynamic_shared));
}

/// A grid as a probe asks for it; `dynamic_shared` in bytes.
struct Blocks {
  int blocks, threads;
  int dynamic_shared = 0;
};

/// A thread for each piece of work, in at most `most` blocks.
inline Blocks threads_for(std::size_t work, int threads,
                          int most = std::numeric_limits<int>::max()) {
  return {static_cast<int>(std::min<std::size_t>((work + threads - 1) / threads, most)), threads};
}

/// Launches a kernel that a header declares, from a file that the host's compiler compiles too.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Blocks& grid, cudaStream_t stream,
            Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(grid.dynamic_shared);
  config.stream = stream;
  FATHOM_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// A launch in clusters of `size` blocks; without clusters where that is 1.
class ClusterLaunch {
 public:
  ClusterLaunch(int size, int blocks, int threads, int shared_bytes,
                cudaStream_t stream = nullptr) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
    config_.gridDim = dim3(static_cast<unsigned>(blocks));
    config_.blockDim = dim3(static_cast<unsigned>(threads));
    config_.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
    config_.stream = stream;
    config_.attrs = &attribute_;
    config_.numAttrs = size > 1 ? 1 : 0;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), const Arguments&... arguments) const {
    FATHOM_CUDA(cudaLaunchKernelEx(&config_, kernel, arguments...));
  }

  /// Clusters that the GPU runs at once; 0 where it runs none of that size.
  template <class... Parameters>
  int most_active(void (*kernel)(Parameters...)) const {
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config_) == cudaSuccess) return clusters;
    cudaGetLastError();  // too large for this GPU: clears it
    return 0;
  }

 private:
  cudaLaunchAttribute attribute_ = {};
  cudaLaunchConfig_t config_ = {};
};

}  // namespace fathom
