#pragma once

#include "probes/instructions/fragments.cuh"

// One asynchronous product of a warpgroup, d[] += A B, with both matrices in shared memory. Inline
// PTX must be one literal, so each shape and type has its own; the lists of accumulators are included.

namespace fathom::instructions {

__device__ inline void multiply(F16, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_64.inc"
               ", %32, %33, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_64.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(F16, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_128.inc"
               ", %64, %65, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_128.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(F16, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_256.inc"
               ", %128, %129, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_256.inc"
               : "l"(a), "l"(b));
}

__device__ inline void multiply(Bf16, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_64.inc"
               ", %32, %33, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_64.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(Bf16, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_128.inc"
               ", %64, %65, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_128.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(Bf16, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_256.inc"
               ", %128, %129, 1, 1, 1, 0, 0;" :
#include "harness/wgmma/sums_256.inc"
               : "l"(a), "l"(b));
}

__device__ inline void multiply(Tf32, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_64.inc"
               ", %32, %33, 1, 1, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(Tf32, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_128.inc"
               ", %64, %65, 1, 1, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(Tf32, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_256.inc"
               ", %128, %129, 1, 1, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "l"(a), "l"(b));
}

__device__ inline void multiply(E4m3, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_64.inc"
               ", %32, %33, 1, 1, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(E4m3, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_128.inc"
               ", %64, %65, 1, 1, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(E4m3, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_256.inc"
               ", %128, %129, 1, 1, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "l"(a), "l"(b));
}

__device__ inline void multiply(S8, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_64.inc"
               ", %32, %33, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(S8, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_128.inc"
               ", %64, %65, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "l"(a), "l"(b));
}
__device__ inline void multiply(S8, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_256.inc"
               ", %128, %129, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "l"(a), "l"(b));
}

}  // namespace fathom::instructions
