#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

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

/// The same with the place that `value` has among all of these.
template <const auto& all, class T, class F>
auto with_place(const T& value, F&& f) {
  return [&]<std::size_t... place>(std::index_sequence<place...>) {
    return with_constant<place...>(
        static_cast<std::size_t>(std::ranges::find(all, value) - std::begin(all)), f);
  }(std::make_index_sequence<std::size(all)>());
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

/// A grid as a probe asks for it; `dynamic_shared` in bytes, `cluster` in blocks: 1 is none.
struct Blocks {
  int blocks, threads;
  int dynamic_shared = 0;
  int cluster = 1;
};

/// A thread for each piece of work, in at most `most` blocks.
inline Blocks threads_for(std::size_t work, int threads,
                          int most = std::numeric_limits<int>::max()) {
  return {static_cast<int>(std::min<std::size_t>((work + threads - 1) / threads, most)), threads};
}

/// The grid as the runtime wants it.
class LaunchConfig {
 public:
  explicit LaunchConfig(const Blocks& grid, cudaStream_t stream = nullptr) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
    config_.gridDim = dim3(static_cast<unsigned>(grid.blocks));
    config_.blockDim = dim3(static_cast<unsigned>(grid.threads));
    config_.dynamicSmemBytes = static_cast<std::size_t>(grid.dynamic_shared);
    config_.stream = stream;
    config_.attrs = &attribute_;
    config_.numAttrs = grid.cluster > 1 ? 1 : 0;
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;
  operator const cudaLaunchConfig_t*() const { return &config_; }

 private:
  cudaLaunchAttribute attribute_ = {};
  cudaLaunchConfig_t config_ = {};
};

/// Launches a kernel that a header declares, from a file that the host's compiler compiles too.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Blocks& grid, cudaStream_t stream,
            Arguments... arguments) {
  FATHOM_CUDA(cudaLaunchKernelEx(LaunchConfig(grid, stream), kernel, arguments...));
}

/// Lets the kernel run in clusters of more than eight blocks.
template <class... Parameters>
void allow_any_cluster(void (*kernel)(Parameters...)) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

/// Clusters that the GPU runs at once; 0 where it runs none of that size.
template <class... Parameters>
int most_active_clusters(void (*kernel)(Parameters...), const Blocks& grid) {
  allow_any_cluster(kernel);
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel, LaunchConfig(grid)) == cudaSuccess)
    return clusters;
  cudaGetLastError();  // too large for this GPU: clears it
  return 0;
}

}  // namespace fathom
