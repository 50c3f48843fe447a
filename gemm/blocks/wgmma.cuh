#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "gemm/blocks/major.h"

// Asynchronous products of a warpgroup, wgmma (PTX ISA, "Asynchronous warpgroup level matrix
// multiply-accumulate"; compute capability 9.0 alone), with both operands in shared memory.

namespace fathom::gemm {

/// An operand's tile in shared memory is a row of blocks of 64 of its outer dimension by 64 of k
/// (of 16-bit elements), each as TMA leaves a box with the 128-byte swizzle: 64 lines of 128 bytes,
/// along k (Major::k) or along the outer dimension (Major::outer).
inline constexpr int block_side = 64, block_bytes = 64 * 128;

/// What wgmma is told of a tile at a shared-memory address that is a multiple of 1024 but for steps
/// of k: the address, two strides, all in units of 16 bytes, and swizzle mode 1 (128 bytes) in bits
/// 62 and 63. Major::k has no use for the first stride, and the second leads from 8 lines to the
/// next 8. For Major::outer the first leads from 64 elements of the outer dimension to the next 64,
/// the second from 8 of k to the next 8 (PTX ISA, "Strides" of the shared-memory matrix layout).
template <Major major>
__device__ inline std::uint64_t tile_descriptor(std::uint32_t address) {
  constexpr std::uint64_t first = major == Major::k ? 1 : block_bytes >> 4;
  constexpr std::uint64_t constant =
      std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32 | first << 16;
  return constant | (address & 0x3FFFF) >> 4;
}

/// From a step of k (32 bytes of it) to the next, in a descriptor's units.
template <Major major>
inline constexpr int step_units = major == Major::k ? 32 >> 4 : 16 * 128 >> 4;

/// Before the first of a series of products: the registers are what the threads made them.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes a group of products.
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `Pending` groups are under way.
template <int Pending>
__device__ inline void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// No instruction that reads sums may go before this, though it names none of what it waits for.
template <int Count>
__device__ inline void fence_accumulators(std::uint32_t (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

/// d[] (64 x N, N / 2 registers a thread) becomes A B, plus what it was if `add`; 16 of k. Which
/// element is where: gemm/blocks/warp_tile.cuh. Inline PTX must be one literal, so that each shape
/// and type has its own.
template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_16.inc"
      ", %8, %9, p, 1, 1, %11, %12;\n}"
      :
#include "harness/wgmma/sums_16.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[8], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_16.inc"
      ", %8, %9, p, 1, 1, %11, %12;\n}"
      :
#include "harness/wgmma/sums_16.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_64.inc"
      ", %32, %33, p, 1, 1, %35, %36;\n}"
      :
#include "harness/wgmma/sums_64.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[32], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_64.inc"
      ", %32, %33, p, 1, 1, %35, %36;\n}"
      :
#include "harness/wgmma/sums_64.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_128.inc"
      ", %64, %65, p, 1, 1, %67, %68;\n}"
      :
#include "harness/wgmma/sums_128.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[64], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_128.inc"
      ", %64, %65, p, 1, 1, %67, %68;\n}"
      :
#include "harness/wgmma/sums_128.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__half, std::uint32_t (&d)[128], std::uint64_t a, std::uint64_t b,
                                bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#include "harness/wgmma/sum_names_256.inc"
      ", %128, %129, p, 1, 1, %131, %132;\n}"
      :
#include "harness/wgmma/sums_256.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}
template <Major a_major, Major b_major>
__device__ inline void multiply(__nv_bfloat16, std::uint32_t (&d)[128], std::uint64_t a,
                                std::uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#include "harness/wgmma/sum_names_256.inc"
      ", %128, %129, p, 1, 1, %131, %132;\n}"
      :
#include "harness/wgmma/sums_256.inc"
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),
        "n"(static_cast<int>(b_major)));
}

}  // namespace fathom::gemm
