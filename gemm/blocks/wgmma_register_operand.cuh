#pragma once

#include "gemm/blocks/wgmma.cuh"

// wgmma on tf32 with the first operand in the threads' registers (PTX ISA, "Register Fragments" of
// wgmma .m64nNk8) and the second, contiguous along k, in shared memory. Of each 32 bits the tensor
// cores use the sign, the 8 bits of the exponent and the first 10 of the mantissa.

namespace fathom::gemm {

/// d[] (64 x N) becomes A B, plus what it was if `add`; 8 of k. `a` is a thread's fragment: rows
/// lane / 4 and that + 8 of the warp's 16 at k lane % 4, then the same two at k lane % 4 + 4.
__device__ inline void multiply(float, std::uint32_t (&d)[8], const std::uint32_t (&a)[4], std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_16.inc"
      ", {%8,%9,%10,%11}, %12, p, 1, 1;\n}" :
#include "harness/wgmma/sums_16.inc"
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void multiply(float, std::uint32_t (&d)[32], const std::uint32_t (&a)[4], std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_64.inc"
      ", {%32,%33,%34,%35}, %36, p, 1, 1;\n}" :
#include "harness/wgmma/sums_64.inc"
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void multiply(float, std::uint32_t (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_128.inc"
      ", {%64,%65,%66,%67}, %68, p, 1, 1;\n}" :
#include "harness/wgmma/sums_128.inc"
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}
__device__ inline void multiply(float, std::uint32_t (&d)[128], const std::uint32_t (&a)[4], std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_256.inc"
      ", {%128,%129,%130,%131}, %132, p, 1, 1;\n}" :
#include "harness/wgmma/sums_256.inc"
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace fathom::gemm
