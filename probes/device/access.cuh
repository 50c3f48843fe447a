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

// Loads and stores as inline PTX, which the compiler can neither drop, split nor merge. They
// move 1, 2, 4, 8 or 16 bytes a lane, from or to the first of the words; a narrow store takes the
// low bytes. Inline PTX must be one literal, so a macro writes them for each memory.

// clang-format off
#define FATHOM_MEMORY(Name, ld, st, AddressType, in)                                           \
  struct Name {                                                                                \
    using Address = AddressType;                                                               \
    template <int bytes, int words>                                                            \
    static __device__ __forceinline__ void load(std::uint32_t (&w)[words], Address p) {        \
      if constexpr (bytes == 1)                                                                \
        asm volatile(ld ".u8 %0, [%1];" : "=r"(w[0]) : in(p) : "memory");                      \
      else if constexpr (bytes == 2)                                                           \
        asm volatile(ld ".u16 %0, [%1];" : "=r"(w[0]) : in(p) : "memory");                     \
      else if constexpr (bytes == 4)                                                           \
        asm volatile(ld ".u32 %0, [%1];" : "=r"(w[0]) : in(p) : "memory");                     \
      else if constexpr (bytes == 8)                                                           \
        asm volatile(ld ".v2.u32 {%0, %1}, [%2];"                                              \
                     : "=r"(w[0]), "=r"(w[1]) : in(p) : "memory");                             \
      else                                                                                     \
        asm volatile(ld ".v4.u32 {%0, %1, %2, %3}, [%4];"                                      \
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : in(p) : "memory");     \
    }                                                                                          \
    template <int bytes, int words>                                                            \
    static __device__ __forceinline__ void store(Address p, const std::uint32_t (&w)[words]) { \
      if constexpr (bytes == 1)                                                                \
        asm volatile(st ".u8 [%0], %1;" ::in(p), "r"(w[0]) : "memory");                        \
      else if constexpr (bytes == 2)                                                           \
        asm volatile(st ".u16 [%0], %1;" ::in(p), "r"(w[0]) : "memory");                       \
      else if constexpr (bytes == 4)                                                           \
        asm volatile(st ".u32 [%0], %1;" ::in(p), "r"(w[0]) : "memory");                       \
      else if constexpr (bytes == 8)                                                           \
        asm volatile(st ".v2.u32 [%0], {%1, %2};" ::in(p), "r"(w[0]), "r"(w[1]) : "memory");   \
      else                                                                                     \
        asm volatile(st ".v4.u32 [%0], {%1, %2, %3, %4};"                                      \
                     ::in(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");          \
    }                                                                                          \
  };
// clang-format on

FATHOM_MEMORY(GlobalMemory, "ld.global", "st.global", std::uint64_t, "l")
FATHOM_MEMORY(GlobalPastL1, "ld.global.cg", "st.global", std::uint64_t, "l")
FATHOM_MEMORY(GlobalUnallocated, "ld.global.L1::no_allocate", "st.global", std::uint64_t, "l")
FATHOM_MEMORY(SharedMemory, "ld.shared", "st.shared", std::uint32_t, "r")
/// Shared memory of any block of the cluster.
FATHOM_MEMORY(ClusterMemory, "ld.shared::cluster", "st.shared::cluster", std::uint32_t, "r")
#undef FATHOM_MEMORY

}  // namespace fathom
