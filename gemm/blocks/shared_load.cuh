#pragma once

#include <cstdint>

namespace fathom::gemm {

/// Loads four floats from a 16-byte aligned shared-memory address. Stays where it is among barriers
/// and other such loads.
__device__ inline void load_vector(float (&to)[4], std::uint32_t address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(address));
}

}  // namespace fathom::gemm
