#pragma once

#include <utility>

#include "probes/memory_latency/kernels.h"

// Straight-line code of a length chosen at run time, to fill instruction caches with.

namespace fathom::memory_latency {

/// `one` is known at run time only, so that no two of these become one.
template <int count>
__device__ __forceinline__ void add_to_sums(float (&sums)[8], float one) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sums[i]) : "f"(one));
}

__device__ __forceinline__ void code_block(float (&sums)[8], float one) {
  // One statement for eight instructions: the compiler limits how many it unrolls.
  constexpr int eights = code_block_sums / 8;
#pragma unroll
  for (int i = 0; i < eights; ++i) {
    asm volatile(
        "fma.rn.f32 %0, %0, %8, %8; fma.rn.f32 %1, %1, %8, %8;fma.rn.f32 %2, %2, %8, %8; "
        "fma.rn.f32 %3, %3, %8, %8;fma.rn.f32 %4, %4, %8, %8; fma.rn.f32 %5, %5, %8, %8;fma.rn.f32 "
        "%6, %6, %8, %8; fma.rn.f32 %7, %7, %8, %8;"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
          "+f"(sums[6]), "+f"(sums[7])
        : "f"(one));
  }
  add_to_sums<code_block_sums - 8 * eights>(sums, one);
}

/// Executes the first `blocks` code blocks, 1 to most_code_blocks, one after the other.
__device__ __forceinline__ void run_code(int blocks, float (&sums)[8], float one) {
  // Not a loop to be unrolled: for some targets the compiler leaves one of this length a loop.
  const auto run = [&]<int... block>(std::integer_sequence<int, block...>) {
    ((code_block(sums, one), block + 1 == blocks) || ...);
  };
  run(std::make_integer_sequence<int, most_code_blocks>{});
}

}  // namespace fathom::memory_latency
