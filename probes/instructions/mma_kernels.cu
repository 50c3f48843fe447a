#include "probes/instructions/fragments.cuh"

// Tensor instructions of one warp: mma.sync. A chain is an accumulator; A and B stay.

namespace fathom::instructions {
namespace {

template <class Element, class Sum, int K, int ARegisters, int BRegisters, int SumRegisters>
struct MmaOp : TensorOp<Element, Sum, 16, 8, K, SumRegisters> {
  // Fragments of doubles leave registers for fewer chains and warps.
  static constexpr bool large = std::is_same_v<Element, F64>;
  static constexpr int latency_short_steps = large ? 8 : 16, latency_steps = large ? 32 : 64;
  static constexpr int throughput_chains = large ? 2 : 4, throughput_steps = 16;
  static constexpr int throughput_warps = large ? 8 : 16, max_threads = large ? 256 : 512;
  struct Operands {
    typename Element::Register a[2][ARegisters], b[BRegisters];
  };

  static Operands operands(int lane) {
    Operands o;
    for (int parity = 0; parity < 2; ++parity)
      for (int r = 0; r < ARegisters; ++r) o.a[parity][r] = a_register<Element>(lane, r, 0, parity);
    for (int r = 0; r < BRegisters; ++r) o.b[r] = b_register<Element>(lane, r);
    return o;
  }
  static void randomise(Operands& o, int lane) {
    const auto random = [&](int r) { return random_register<Element>(64 * lane + r); };
    for (int r = 0; r < ARegisters; ++r) {
      o.a[0][r] = random(r);
      o.a[1][r] = negated<Element>(o.a[0][r]);
    }
    for (int r = 0; r < BRegisters; ++r) o.b[r] = random(ARegisters + r);
  }
};

template <class Element, class Sum, int K>
using SmallMma = MmaOp<Element, Sum, K, 2, 1, 4 / Sum::per_register>;
template <class Element, class Sum, int K>
using LargeMma = MmaOp<Element, Sum, K, 4, 2, 4 / Sum::per_register>;

/// From compute capability `since` on.
#define FATHOM_MMA(Name, Base, since, ptx, ...)                      \
  struct Name : Base {                                               \
    FATHOM_PTX_STEP(since, "mma.sync.aligned." ptx ";", __VA_ARGS__) \
  };
// With four accumulators.
#define FATHOM_FOUR_SUMS "+r"(x.r[0]), "+r"(x.r[1]), "+r"(x.r[2]), "+r"(x.r[3])
#define FATHOM_FOUR_OF_A "r"(o.a[i][0]), "r"(o.a[i][1]), "r"(o.a[i][2]), "r"(o.a[i][3])
#define FATHOM_SMALL_MMA(Name, since, ptx, ...)                                                  \
  using Name##Base = SmallMma<__VA_ARGS__>;                                                      \
  FATHOM_MMA(Name, Name##Base, since, ptx " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3}",        \
             FATHOM_FOUR_SUMS : "r"(o.a[i][0]), "r"(o.a[i][1]), "r"(o.b[0]))
#define FATHOM_LARGE_MMA(Name, since, ptx, ...)                                                  \
  using Name##Base = LargeMma<__VA_ARGS__>;                                                      \
  FATHOM_MMA(Name, Name##Base, since,                                                            \
             ptx " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}",                        \
             FATHOM_FOUR_SUMS : FATHOM_FOUR_OF_A, "r"(o.b[0]), "r"(o.b[1]))

FATHOM_SMALL_MMA(MmaF16K8, 750, "m16n8k8.row.col.f32.f16.f16.f32", F16, F32Sum, 8)
FATHOM_LARGE_MMA(MmaF16K16, 800, "m16n8k16.row.col.f32.f16.f16.f32", F16, F32Sum, 16)
FATHOM_SMALL_MMA(MmaBf16K8, 800, "m16n8k8.row.col.f32.bf16.bf16.f32", Bf16, F32Sum, 8)
FATHOM_LARGE_MMA(MmaBf16K16, 800, "m16n8k16.row.col.f32.bf16.bf16.f32", Bf16, F32Sum, 16)
FATHOM_SMALL_MMA(MmaTf32K4, 800, "m16n8k4.row.col.f32.tf32.tf32.f32", Tf32, F32Sum, 4)
FATHOM_LARGE_MMA(MmaTf32K8, 800, "m16n8k8.row.col.f32.tf32.tf32.f32", Tf32, F32Sum, 8)
FATHOM_SMALL_MMA(MmaS8K16, 800, "m16n8k16.row.col.s32.s8.s8.s32", S8, S32Sum, 16)
FATHOM_LARGE_MMA(MmaS8K32, 800, "m16n8k32.row.col.s32.s8.s8.s32", S8, S32Sum, 32)
FATHOM_LARGE_MMA(MmaE4m3K32, 890, "m16n8k32.row.col.f32.e4m3.e4m3.f32", E4m3, F32Sum, 32)

using F16ToF16 = LargeMma<F16, F16Sum, 16>;
FATHOM_MMA(MmaF16K16F16, F16ToF16, 800,
           "m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1}",
           "+r"(x.r[0]), "+r"(x.r[1]) : FATHOM_FOUR_OF_A, "r"(o.b[0]), "r"(o.b[1]))

using F64K4 = MmaOp<F64, F64Sum, 4, 1, 1, 2>;
FATHOM_MMA(MmaF64K4, F64K4, 800, "m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1}",
           "+d"(x.r[0]), "+d"(x.r[1]) : "d"(o.a[i][0]), "d"(o.b[0]))

using F64K16 = MmaOp<F64, F64Sum, 16, 8, 4, 4>;
FATHOM_MMA(MmaF64K16, F64K16, 900,
           "m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
           "{%12,%13,%14,%15}, {%0,%1,%2,%3}",
           "+d"(x.r[0]), "+d"(x.r[1]), "+d"(x.r[2]), "+d"(x.r[3])
           : "d"(o.a[i][0]), "d"(o.a[i][1]), "d"(o.a[i][2]), "d"(o.a[i][3]), "d"(o.a[i][4]),
             "d"(o.a[i][5]), "d"(o.a[i][6]), "d"(o.a[i][7]), "d"(o.b[0]), "d"(o.b[1]), "d"(o.b[2]),
             "d"(o.b[3]))

}  // namespace

FATHOM_KERNELS(mma_kernels, MmaF16K8, MmaF16K16, MmaF16K16F16, MmaBf16K8, MmaBf16K16, MmaTf32K4,
               MmaTf32K8, MmaS8K16, MmaS8K32, MmaE4m3K32, MmaF64K4, MmaF64K16)

}  // namespace fathom::instructions
