#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "probes/instructions/chain.cuh"

// Floating-point arithmetic of 16, 32 and 64 bits.

namespace fathom::instructions {
namespace {

template <class Derived>
using DoubleOp = LaneOp<Derived, double>;

FATHOM_OP(Fadd, FloatOp, "+f", x + b, "add.rn.f32 %0, %0, %1;", "f"(o.b[i]))
FATHOM_OP(Fmul, FloatOp, "+f", (x * a), "mul.rn.f32 %0, %0, %1;", "f"(o.a[i]))
FATHOM_OP(Ffma, FloatOp, "+f", std::fma(x, a, b), "fma.rn.f32 %0, %0, %1, %2;", "f"(o.a[i]),
          "f"(o.b[i]))

/// Even steps take the smaller one, odd steps the larger, of numbers such that every step changes
/// x. The GPU does not read b: it tells `next` which step it is.
struct Fmnmx : FloatOp<Fmnmx> {
  static Operands operands(int) { return {{0.75f, 1.5f}, {0, 1}}; }
  static __device__ void step(float& x, const Operands& o, int i) {
    if (i == 0)
      asm volatile("min.f32 %0, %0, %1;" : "+f"(x) : "f"(o.a[0]));
    else
      asm volatile("max.f32 %0, %0, %1;" : "+f"(x) : "f"(o.a[1]));
  }
  static float next(float x, float a, float b) { return b == 0 ? std::min(x, a) : std::max(x, a); }
};

FATHOM_OP(Dadd, DoubleOp, "+d", x + b, "add.rn.f64 %0, %0, %1;", "d"(o.b[i]))
FATHOM_OP(Dmul, DoubleOp, "+d", (x * a), "mul.rn.f64 %0, %0, %1;", "d"(o.a[i]))

/// One register pair is both factor and term. A DFMA of three different pairs takes longer to read
/// them than its pipe to multiply, unless the cache of the last operands has one; the compiler
/// keeps it there for six instructions in a row at most (58 of 64 a clock on an H100 and an H200).
/// x grows by 5/3 in two steps.
FATHOM_OP(Dfma, DoubleOp, "+d", std::fma(x, a, a), "fma.rn.f64 %0, %0, %1, %1;", "d"(o.a[i]))

__half rounded_to(__half, double value) { return __double2half(value); }
__nv_bfloat16 rounded_to(__nv_bfloat16, double value) { return __double2bfloat16(value); }
double widened(__half value) { return __half2float(value); }
double widened(__nv_bfloat16 value) { return __bfloat162float(value); }

/// Two 16-bit numbers in a register. The reference computes in double, where a product of two is
/// exact and so is its sum with a third of like size, and rounds once.
template <class Derived, class Half>
struct PairOp : WordOp<Derived> {
  static std::uint32_t packed(double low, double high) {
    const Half halves[2] = {rounded_to(Half{}, low), rounded_to(Half{}, high)};
    std::uint32_t word;
    std::memcpy(&word, halves, sizeof word);
    return word;
  }
  static std::uint32_t start(int lane, int chain) {
    return packed(1 + (lane + chain) / 32.0, 1 + (2 * chain + lane + 1) / 64.0);
  }
  static OperandPairs<std::uint32_t> operands(int) {
    return {{packed(1.5, 1.25), packed(2.0 / 3, 0.8)}, {packed(0.375, 0.5), packed(-0.375, -0.5)}};
  }
  static std::array<double, 2> unpacked(std::uint32_t word) {
    Half halves[2];
    std::memcpy(halves, &word, sizeof word);
    return {widened(halves[0]), widened(halves[1])};
  }
  template <class F>
  static std::uint32_t by_half(F&& f, std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    const auto u = unpacked(x), v = unpacked(a), w = unpacked(b);
    return packed(f(u[0], v[0], w[0]), f(u[1], v[1], w[1]));
  }
};
template <class Derived>
using HalvesOp = PairOp<Derived, __half>;
/// The operands change between two steps, and instructions around that change take all of theirs
/// from the register file anew, which costs a turn: the more chains, the rarer that is.
template <class Derived, class Half = __half>
struct ManyPairsOp : PairOp<Derived, Half> {
  static constexpr int throughput_chains = 32, throughput_steps = 16;
};

constexpr auto sum = [](double u, double, double w) { return u + w; };
constexpr auto product = [](double u, double v, double) { return u * v; };
constexpr auto multiply_add = [](double u, double v, double w) { return u * v + w; };

FATHOM_OP(Hadd2, HalvesOp, "+r", by_half(sum, x, a, b), "add.rn.f16x2 %0, %0, %1;", "r"(o.b[i]))
FATHOM_OP(Hmul2, HalvesOp, "+r", by_half(product, x, a, b), "mul.rn.f16x2 %0, %0, %1;", "r"(o.a[i]))
FATHOM_OP(Hfma2, ManyPairsOp, "+r", by_half(multiply_add, x, a, b), "fma.rn.f16x2 %0, %0, %1, %2;",
          "r"(o.a[i]), "r"(o.b[i]))

struct Hfma2Bf16 : ManyPairsOp<Hfma2Bf16, __nv_bfloat16> {
  static __device__ void step(std::uint32_t& x, const Operands& o, int i) {
#if __CUDA_ARCH__ >= 800
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(o.a[i]), "r"(o.b[i]));
#endif
  }
  static std::uint32_t next(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    return by_half(multiply_add, x, a, b);
  }
};

}  // namespace

FATHOM_KERNELS(float_kernels, Fadd, Fmul, Ffma, Fmnmx, Dadd, Dmul, Dfma, Hadd2, Hmul2, Hfma2,
               Hfma2Bf16)

}  // namespace fathom::instructions
