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

}  // namespace fathom
