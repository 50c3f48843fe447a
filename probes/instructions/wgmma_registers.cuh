#pragma once

#include "probes/instructions/fragments.cuh"

// One asynchronous product of a warpgroup, d[] += A B, with A in registers and B in shared memory.
// See wgmma_shared.cuh.

namespace fathom::instructions {

__device__ inline void multiply(F16, std::uint32_t (&d)[32], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_64.inc"
               ", {%32,%33,%34,%35}, %36, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_64.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(F16, std::uint32_t (&d)[64], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_128.inc"
               ", {%64,%65,%66,%67}, %68, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_128.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(F16, std::uint32_t (&d)[128], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_256.inc"
               ", {%128,%129,%130,%131}, %132, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_256.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ inline void multiply(Bf16, std::uint32_t (&d)[32], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_64.inc"
               ", {%32,%33,%34,%35}, %36, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_64.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(Bf16, std::uint32_t (&d)[64], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_128.inc"
               ", {%64,%65,%66,%67}, %68, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_128.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(Bf16, std::uint32_t (&d)[128], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_256.inc"
               ", {%128,%129,%130,%131}, %132, 1, 1, 1, 0;" :
#include "harness/wgmma/sums_256.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ inline void multiply(Tf32, std::uint32_t (&d)[32], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_64.inc"
               ", {%32,%33,%34,%35}, %36, 1, 1, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(Tf32, std::uint32_t (&d)[64], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_128.inc"
               ", {%64,%65,%66,%67}, %68, 1, 1, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(Tf32, std::uint32_t (&d)[128], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_256.inc"
               ", {%128,%129,%130,%131}, %132, 1, 1, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ inline void multiply(E4m3, std::uint32_t (&d)[32], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_64.inc"
               ", {%32,%33,%34,%35}, %36, 1, 1, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(E4m3, std::uint32_t (&d)[64], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_128.inc"
               ", {%64,%65,%66,%67}, %68, 1, 1, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(E4m3, std::uint32_t (&d)[128], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_256.inc"
               ", {%128,%129,%130,%131}, %132, 1, 1, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ inline void multiply(S8, std::uint32_t (&d)[32], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_64.inc"
               ", {%32,%33,%34,%35}, %36, 1;" :
#include "harness/wgmma/sums_64.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(S8, std::uint32_t (&d)[64], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_128.inc"
               ", {%64,%65,%66,%67}, %68, 1;" :
#include "harness/wgmma/sums_128.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply(S8, std::uint32_t (&d)[128], const std::uint32_t (&a)[4],
                                std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_256.inc"
               ", {%128,%129,%130,%131}, %132, 1;" :
#include "harness/wgmma/sums_256.inc"
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

}  // namespace fathom::instructions
