#pragma once

#include <cstdint>

#include "harness/device_clocks.cuh"
#include "probes/atomics/atomic.cuh"
#include "probes/atomics/kernels.h"

// What the kernels share: the loop around an instruction, and the clocks around the loop.

namespace fathom::atomics {

/// Whether the chip that is compiled for has what came with capability `since`, times ten.
template <int since>
__device__ constexpr bool chip_has() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= since * 10;
#else
  return true;
#endif
}

__device__ inline std::uint64_t pair_of(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}
template <class Value>
__device__ Value value_of(const std::uint32_t* words) {
  if constexpr (sizeof(Value) == 4)
    return words[0];
  else if constexpr (sizeof(Value) == 8)
    return pair_of(words);
  else if constexpr (std::is_same_v<Value, Value128>)
    return {pair_of(words), pair_of(words + 2)};
  else
    return {{words[0], words[1], words[2], words[3]}};
}

/// The atomics of one thread, `first` being its address in the first slot. `warp` of `warps` walks
/// through the slots as `Pattern` says.
template <class A, class Address>
__device__ std::uint32_t repeat(Address first, const Run& run, std::uint32_t warp,
                                std::uint32_t warps) {
  const auto value = value_of<ValueOf<A>>(run.operand);
  const std::uint32_t window = run.pattern.slots * run.pattern.slot_bytes;
  const std::uint32_t step = warps % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t offset = warp % run.pattern.slots * run.pattern.slot_bytes;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int done = 0; done < run.iterations; done += unroll) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      sum += perform<A>(first + offset, value);
      offset += step;
      offset = min(offset, offset - window);  // below the window the difference wraps round
    }
  }
  return sum;
}

/// Keeps what the atomics returned, and with it waits for all of them.
template <class A>
__device__ void keep(const Run& run, std::uint32_t sum) {
  if constexpr (A::instruction.returns) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(run.sums + blockIdx.x * blockDim.x + threadIdx.x),
                 "r"(sum)
                 : "memory");
  }
}

/// Both are followed or led by a barrier of the block: no atomic is outside of them.
__device__ inline void begin(BlockTimes* times) {
  if (threadIdx.x == 0) {
    times[blockIdx.x].ns_begin = nanoseconds_now();
    times[blockIdx.x].clock_begin = clock_now();
  }
  __syncthreads();
}
__device__ inline void end(BlockTimes* times) {
  __syncthreads();
  if (threadIdx.x == 0) {
    times[blockIdx.x].clock_end = clock_now();
    times[blockIdx.x].ns_end = nanoseconds_now();
  }
}

}  // namespace fathom::atomics
