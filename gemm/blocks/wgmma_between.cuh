#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "gemm/blocks/major.h"

// wgmma of 160 and 192 columns (gemm/blocks/wgmma.cuh and wgmma_other_types.cuh have the powers of
// two): tiles between 128 and 256, for products that whole waves of those would leave partly
// filled.

namespace fathom::gemm {

template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[80], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_160.inc"
      ", %80, %81, p, 1, 1, %83, %84;\n}"
      :
#include "harness/wgmma/sums_160.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[80], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_160.inc"
      ", %80, %81, p, 1, 1, %83, %84;\n}"
      :
#include "harness/wgmma/sums_160.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[96], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_192.inc"
      ", %96, %97, p, 1, 1, %99, %100;\n}"
      :
#include "harness/wgmma/sums_192.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[96], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_192.inc"
      ", %96, %97, p, 1, 1, %99, %100;\n}"
      :
#include "harness/wgmma/sums_192.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[80], std::uint64_t a,
                                std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_160.inc"
      ", %80, %81, p, 1, 1;\n}"
      :
#include "harness/wgmma/sums_160.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[80], std::uint64_t a,
                                std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %82, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_160.inc"
      ", %80, %81, p;\n}"
      :
#include "harness/wgmma/sums_160.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[96], std::uint64_t a,
                                std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_192.inc"
      ", %96, %97, p, 1, 1;\n}"
      :
#include "harness/wgmma/sums_192.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[96], std::uint64_t a,
                                std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_192.inc"
      ", %96, %97, p;\n}"
      :
#include "harness/wgmma/sums_192.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace fathom::gemm
