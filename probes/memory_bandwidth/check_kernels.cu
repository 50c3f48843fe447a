#include "probes/memory_bandwidth/kernels.h"

namespace fathom::memory_bandwidth {

__global__ void sum_words(const std::uint32_t* data, std::uint64_t words, std::uint32_t* sum) {
  std::uint32_t own = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    own += data[i];
  for (int mask = warp_lanes / 2; mask > 0; mask /= 2)
    own += __shfl_xor_sync(0xFFFFFFFFu, own, mask);
  if (threadIdx.x % warp_lanes == 0) atomicAdd(sum, own);
}

__global__ void count_wrong_words(const std::uint32_t* data, std::uint64_t words, Access access,
                                  std::uint32_t grid_warps, unsigned long long* wrong) {
  unsigned long long own = 0;
  const auto tile = static_cast<std::uint32_t>(access.tile());
  const auto row = static_cast<std::uint32_t>(access.width * warp_lanes);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t offset = i * sizeof(std::uint32_t);
    const auto warp = static_cast<std::uint32_t>(offset / tile % grid_warps);
    const auto within = static_cast<std::uint32_t>(offset % row);
    const std::uint32_t width = static_cast<std::uint32_t>(access.width);
    const std::uint32_t thread = warp * warp_lanes + within / width;
    own += data[i] != store_value(thread, within % width / sizeof(std::uint32_t));
  }
  if (own != 0) atomicAdd(wrong, own);
}

}  // namespace fathom::memory_bandwidth
