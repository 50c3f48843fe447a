#pragma once

#include "probes/memory_bandwidth/stream.cuh"

// Global memory as a Space of stream.cuh, and the walk through it that kernels of all SMs and of
// chosen ones share.

namespace fathom::memory_bandwidth {

inline constexpr int max_threads = 1024;

/// Global memory by one load instruction; plain stores.
template <Path path>
struct Global {
  using Address = std::uint64_t;
  using Offset = std::uint64_t;

  static __device__ __forceinline__ void load(Vector<4>& v, Address p) {
    if constexpr (path == Path::cached)
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
    else if constexpr (path == Path::l2_only)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
    else
      asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p) : "memory");
  }

  static __device__ __forceinline__ void load(Vector<8>& v, Address p) {
    if constexpr (path == Path::cached) {
      asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    } else if constexpr (path == Path::l2_only) {
      asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    } else {
      asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "l"(p)
                   : "memory");
    }
  }

  static __device__ __forceinline__ void load(Vector<16>& v, Address p) {
    if constexpr (path == Path::cached) {
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    } else if constexpr (path == Path::l2_only) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    } else {
      asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                   : "l"(p)
                   : "memory");
    }
  }

  static __device__ __forceinline__ void store(Address p, const Vector<4>& v) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v.word[0]) : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<8>& v) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.word[0]), "r"(v.word[1])
                 : "memory");
  }
  static __device__ __forceinline__ void store(Address p, const Vector<16>& v) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.word[0]),
                 "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
  }
};

/// The walk of the calling block, which is number `block` of those that share out the work.
template <Operation operation, Path path, int width, int loads>
__device__ __forceinline__ void walk_global(const GlobalRun& run, std::uint32_t block) {
  using Space = Global<path>;
  const Walk& walk = run.walk;
  const std::uint64_t base =
      reinterpret_cast<std::uint64_t>(operation == Operation::store ? run.dst : run.src);
  const std::uint64_t end = base + block * walk.block_region + walk.span;
  const std::uint64_t p =
      base + walk.start(block, threadIdx.x / warp_lanes) + threadIdx.x % warp_lanes * width;
  const std::uint32_t thread = block * blockDim.x + threadIdx.x;
  const Vector<width> value = value_to_store<width>(thread);
  __syncthreads();
  Stopwatch stopwatch(run.reports + thread / warp_lanes);
  std::uint32_t sum = 0;
  if constexpr (operation == Operation::load) {
    sum = load_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles);
  } else if constexpr (operation == Operation::store) {
    store_stream<width, loads, Space>(p, end, walk.step, walk.span, walk.tiles, value);
  } else {
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(run.dst) - base;
    copy_stream<width, loads, Space>(p, end, distance, walk.step, walk.span, walk.tiles);
  }
  stopwatch.stop(sum);
}

}  // namespace fathom::memory_bandwidth
