#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "gemm/bench/problem.h"

// Asynchronous products of a warpgroup, wgmma (PTX ISA, "Asynchronous warpgroup level matrix
// multiply-accumulate"; compute capability 9.0 alone). The second operand lies in shared memory,
// and the first there or, of tf32, in the threads' registers.

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

// Inline PTX must be one literal, so that each shape and type has its own function. All come from
// this list: a shape with the numbers that PTX has for the operands behind its sums.
#define FATHOM_WGMMA_SHAPES(function, ...)                                     \
  function(16, "%8", "%9", "%10", "%11", "%12", "%13", __VA_ARGS__)            \
      function(64, "%32", "%33", "%34", "%35", "%36", "%37", __VA_ARGS__)      \
          function(128, "%64", "%65", "%66", "%67", "%68", "%69", __VA_ARGS__) \
              function(256, "%128", "%129", "%130", "%131", "%132", "%133", __VA_ARGS__)

// The names of a thread's sums in PTX, and d[] as its operands.
#define FATHOM_WGMMA_SUM_NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7"
#define FATHOM_WGMMA_SUM_NAMES_64                                  \
  FATHOM_WGMMA_SUM_NAMES_16                                        \
  ",%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23" \
  ",%24,%25,%26,%27,%28,%29,%30,%31"
#define FATHOM_WGMMA_SUM_NAMES_128                                   \
  FATHOM_WGMMA_SUM_NAMES_64                                          \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define FATHOM_WGMMA_SUM_NAMES_256                                               \
  FATHOM_WGMMA_SUM_NAMES_128                                                     \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"             \
  ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"             \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
  ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123"                 \
  ",%124,%125,%126,%127"
#define FATHOM_WGMMA_SUMS_8(d, i)                                                             \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
      "+r"(d[i + 6]), "+r"(d[i + 7])
#define FATHOM_WGMMA_SUMS_32(d, i)                                                          \
  FATHOM_WGMMA_SUMS_8(d, i), FATHOM_WGMMA_SUMS_8(d, i + 8), FATHOM_WGMMA_SUMS_8(d, i + 16), \
      FATHOM_WGMMA_SUMS_8(d, i + 24)
#define FATHOM_WGMMA_SUMS_16 FATHOM_WGMMA_SUMS_8(d, 0)
#define FATHOM_WGMMA_SUMS_64 FATHOM_WGMMA_SUMS_32(d, 0)
#define FATHOM_WGMMA_SUMS_128 FATHOM_WGMMA_SUMS_32(d, 0), FATHOM_WGMMA_SUMS_32(d, 32)
#define FATHOM_WGMMA_SUMS_256 \
  FATHOM_WGMMA_SUMS_128, FATHOM_WGMMA_SUMS_32(d, 64), FATHOM_WGMMA_SUMS_32(d, 96)
#define FATHOM_WGMMA_PTX(n, k_and_types, operands, add)                              \
  "{\n.reg .pred p;\nsetp.ne.b32 p, " add                                            \
  ", 0;\n"                                                                           \
  "wgmma.mma_async.sync.aligned.m64n" #n k_and_types " {" FATHOM_WGMMA_SUM_NAMES_##n \
      "}, " operands ";\n}"

/// d[] (64 x N, N / 2 registers a thread) becomes A B, plus what it was if `add`; 16 of k. Which
/// element is where: gemm/blocks/warp_tile.cuh.
#define FATHOM_MULTIPLY_16_BITS(n, a_, b_, add_, a_major_, b_major_, unused, type, k_and_types) \
  template <Major a_major, Major b_major>                                                       \
  __device__ inline void multiply(type, std::uint32_t(&d)[n / 2], std::uint64_t a,              \
                                  std::uint64_t b, bool add) {                                  \
    asm volatile(                                                                               \
        FATHOM_WGMMA_PTX(n, k_and_types, a_ ", " b_ ", p, 1, 1, " a_major_ ", " b_major_, add_) \
        : FATHOM_WGMMA_SUMS_##n                                                                 \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(static_cast<int>(a_major)),           \
          "n"(static_cast<int>(b_major)));                                                      \
  }
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_16_BITS, __half, "k16.f32.f16.f16")
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_16_BITS, __nv_bfloat16, "k16.f32.bf16.bf16")

/// The same of other types: both operands along k, 32 bytes of it (8 of tf32, 32 of fp8 and int8).
/// fp32 operands are used as tf32: their last 13 bits are cut off.
#define FATHOM_MULTIPLY_ALONG_K(n, a_, b_, add_, unused_1, unused_2, unused_3, type, k_and_types, \
                                signs)                                                            \
  template <Major a_major, Major b_major>                                                         \
  __device__ inline void multiply(type, std::uint32_t(&d)[n / 2], std::uint64_t a,                \
                                  std::uint64_t b, bool add) {                                    \
    static_assert(a_major == Major::k && b_major == Major::k);                                    \
    asm volatile(FATHOM_WGMMA_PTX(n, k_and_types, a_ ", " b_ ", p" signs, add_)                   \
                 : FATHOM_WGMMA_SUMS_##n                                                          \
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)));                                   \
  }
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_ALONG_K, float, "k8.f32.tf32.tf32", ", 1, 1")
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_ALONG_K, __nv_fp8_e4m3, "k32.f32.e4m3.e4m3", ", 1, 1")
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_ALONG_K, std::int8_t, "k32.s32.s8.s8", "")

/// The same of tf32 with the first operand in registers (PTX ISA, "Register Fragments" of wgmma
/// .m64nNk8) and the second, along k, in shared memory. `a` is a thread's fragment: rows lane / 4
/// and that + 8 of the warp's 16 at k lane % 4, then the same two at k lane % 4 + 4. Of each 32
/// bits the tensor cores use the sign, the 8 bits of the exponent and the first 10 of the mantissa.
#define FATHOM_MULTIPLY_REGISTERS(n, a_0, a_1, a_2, a_3, b_, add_, type, k_and_types)         \
  __device__ inline void multiply(type, std::uint32_t(&d)[n / 2], const std::uint32_t(&a)[4], \
                                  std::uint64_t b, bool add) {                                \
    asm volatile(FATHOM_WGMMA_PTX(n, k_and_types,                                             \
                                  "{" a_0 "," a_1 "," a_2 "," a_3 "}, " b_ ", p, 1, 1", add_) \
                 : FATHOM_WGMMA_SUMS_##n                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                        \
                   "r"(static_cast<int>(add)));                                               \
  }
FATHOM_WGMMA_SHAPES(FATHOM_MULTIPLY_REGISTERS, float, "k8.f32.tf32.tf32")

#undef FATHOM_MULTIPLY_REGISTERS
#undef FATHOM_MULTIPLY_ALONG_K
#undef FATHOM_MULTIPLY_16_BITS
#undef FATHOM_WGMMA_PTX
#undef FATHOM_WGMMA_SHAPES

}  // namespace fathom::gemm
