#pragma once

#include <cuda_fp8.h>

#include "gemm/blocks/wgmma.cuh"

// The products of wgmma.cuh for types other than 16-bit ones: both operands along k, 32 bytes of it (8
// of tf32, 32 of fp8 and int8). fp32 operands are used as tf32: their last 13 bits are cut off.

namespace fathom::gemm {

template <Major a_major, Major b_major>
__device__ inline void multiply(float, std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_16.inc"
      ", %8, %9, p, 1, 1;\n}" :
#include "harness/wgmma/sums_16.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(float, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_64.inc"
      ", %32, %33, p, 1, 1;\n}" :
#include "harness/wgmma/sums_64.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(float, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_128.inc"
      ", %64, %65, p, 1, 1;\n}" :
#include "harness/wgmma/sums_128.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(float, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
#include "harness/wgmma/sum_names_256.inc"
      ", %128, %129, p, 1, 1;\n}" :
#include "harness/wgmma/sums_256.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_16.inc"
      ", %8, %9, p, 1, 1;\n}" :
#include "harness/wgmma/sums_16.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_64.inc"
      ", %32, %33, p, 1, 1;\n}" :
#include "harness/wgmma/sums_64.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_128.inc"
      ", %64, %65, p, 1, 1;\n}" :
#include "harness/wgmma/sums_128.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_fp8_e4m3, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
#include "harness/wgmma/sum_names_256.inc"
      ", %128, %129, p, 1, 1;\n}" :
#include "harness/wgmma/sums_256.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_16.inc"
      ", %8, %9, p;\n}" :
#include "harness/wgmma/sums_16.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_64.inc"
      ", %32, %33, p;\n}" :
#include "harness/wgmma/sums_64.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_128.inc"
      ", %64, %65, p;\n}" :
#include "harness/wgmma/sums_128.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(std::int8_t, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(a_major == Major::k && b_major == Major::k);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
#include "harness/wgmma/sum_names_256.inc"
      ", %128, %129, p;\n}" :
#include "harness/wgmma/sums_256.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace fathom::gemm
