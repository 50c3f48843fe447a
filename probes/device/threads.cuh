#pragma once

#include <cstddef>
#include <cstdint>

// What kernels of several probes share.

namespace fathom {

/// As instructions for shared memory address it.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// The number of this thread in the grid.
__device__ inline std::size_t thread_number() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// How many blocks give each piece of work a thread.
inline unsigned blocks_for(std::size_t work, int threads) {
  return static_cast<unsigned>((work + threads - 1) / threads);
}

}  // namespace fathom
