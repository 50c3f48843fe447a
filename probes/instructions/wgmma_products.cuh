#pragma once

#include "probes/instructions/fragments.cuh"

// One asynchronous product of a warpgroup, d[] += A B: B in shared memory, A there or in registers.
// Inline PTX must be one literal, so macros write one for each shape and type.

namespace fathom::instructions {

// A thread's accumulators: their names as inline PTX counts operands, and the operands themselves.
#define FATHOM_NAMES_64                                   \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15" \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define FATHOM_NAMES_128                                             \
  FATHOM_NAMES_64                                                    \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define FATHOM_NAMES_256                                                         \
  FATHOM_NAMES_128                                                               \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"             \
  ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"             \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
  ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define FATHOM_EIGHT(i)                                                                       \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
      "+r"(d[i + 6]), "+r"(d[i + 7])
#define FATHOM_SUMS_64 FATHOM_EIGHT(0), FATHOM_EIGHT(8), FATHOM_EIGHT(16), FATHOM_EIGHT(24)
#define FATHOM_SUMS_128 \
  FATHOM_SUMS_64, FATHOM_EIGHT(32), FATHOM_EIGHT(40), FATHOM_EIGHT(48), FATHOM_EIGHT(56)
#define FATHOM_SUMS_256                                                                    \
  FATHOM_SUMS_128, FATHOM_EIGHT(64), FATHOM_EIGHT(72), FATHOM_EIGHT(80), FATHOM_EIGHT(88), \
      FATHOM_EIGHT(96), FATHOM_EIGHT(104), FATHOM_EIGHT(112), FATHOM_EIGHT(120)

/// Of `n` columns; the operands behind the accumulators are numbers i0 to i4.
#define FATHOM_WGMMA_OF(Type, n, ptx, in_shared, in_registers, i0, i1, i2, i3, i4)            \
  __device__ inline void multiply(Type, std::uint32_t(&d)[n / 2], std::uint64_t a,            \
                                  std::uint64_t b) {                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n ptx " {" FATHOM_NAMES_##n             \
                 "}, %" #i0 ", %" #i1 in_shared ";"                                           \
                 : FATHOM_SUMS_##n                                                            \
                 : "l"(a), "l"(b));                                                           \
  }                                                                                           \
  __device__ inline void multiply(Type, std::uint32_t(&d)[n / 2], const std::uint32_t(&a)[4], \
                                  std::uint64_t b) {                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n ptx " {" FATHOM_NAMES_##n             \
                 "}, {%" #i0 ",%" #i1 ",%" #i2 ",%" #i3 "}, %" #i4 in_registers ";"           \
                 : FATHOM_SUMS_##n                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                       \
  }
#define FATHOM_WGMMA(Type, ptx, in_shared, in_registers)                       \
  FATHOM_WGMMA_OF(Type, 64, ptx, in_shared, in_registers, 32, 33, 34, 35, 36)  \
  FATHOM_WGMMA_OF(Type, 128, ptx, in_shared, in_registers, 64, 65, 66, 67, 68) \
  FATHOM_WGMMA_OF(Type, 256, ptx, in_shared, in_registers, 128, 129, 130, 131, 132)

// Behind the matrices: whether to add to d[]; signs of A and B; which is transposed.
FATHOM_WGMMA(F16, "k16.f32.f16.f16", ", 1, 1, 1, 0, 0", ", 1, 1, 1, 0")
FATHOM_WGMMA(Bf16, "k16.f32.bf16.bf16", ", 1, 1, 1, 0, 0", ", 1, 1, 1, 0")
FATHOM_WGMMA(Tf32, "k8.f32.tf32.tf32", ", 1, 1, 1", ", 1, 1, 1")
FATHOM_WGMMA(E4m3, "k32.f32.e4m3.e4m3", ", 1, 1, 1", ", 1, 1, 1")
FATHOM_WGMMA(S8, "k32.s32.s8.s8", ", 1", ", 1")

}  // namespace fathom::instructions
