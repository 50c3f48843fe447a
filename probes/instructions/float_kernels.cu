#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <limits>

#include "probes/instructions/chain.cuh"

// Floating-point arithmetic of 16, 32 and 64 bits.

namespace fathom::instructions {
namespace {

FATHOM_OP(Fadd, float, "+f", x + b, "add.rn.f32 %0, %0, %1;", "f"(o.b[i]))

FATHOM_OP(Fmul, float, "+f", (x * a), "mul.rn.f32 %0, %0, %1;", "f"(o.a[i]))

FATHOM_OP(Ffma, float, "+f", std::fma(x, a, b), "fma.rn.f32 %0, %0, %1, %2;", "f"(o.a[i]),
          "f"(o.b[i]))

/// Even steps take the smaller one, odd steps the larger, of numbers such that every step changes
/// x. The GPU does not read b: it tells `next` which step it is.
struct Fmnmx : LaneOp<Fmnmx, float> {
  static Operands operands(int) { return {{0.75f, 1.5f}, {0, 1}}; }
  static __device__ void step(float& x, const Operands& o, int i) {
    if (i == 0)
      asm volatile("min.f32 %0, %0, %1;" : "+f"(x) : "f"(o.a[0]));
    else
      asm volatile("max.f32 %0, %0, %1;" : "+f"(x) : "f"(o.a[1]));
  }
  static float next(float x, float a, float b) { return b == 0 ? std::min(x, a) : std::max(x, a); }
};

FATHOM_OP(Dadd, double, "+d", x + b, "add.rn.f64 %0, %0, %1;", "d"(o.b[i]))

FATHOM_OP(Dmul, double, "+d", (x * a), "mul.rn.f64 %0, %0, %1;", "d"(o.a[i]))

/// The operands change between two steps, and instructions around that change take all of theirs
/// from the register file anew, which costs a turn: the more chains, the rarer that is.
template <class Base>
struct ManyChains : Base {
  static constexpr int throughput_chains = 32, throughput_steps = 16;
};

/// One register pair is both factor and term. A DFMA of three different pairs takes longer to read
/// them than its pipe to multiply, unless the cache of the last operands has one; the compiler
/// keeps it there for six instructions in a row at most (58 of 64 a clock on an H100 and an H200).
/// x grows by 5/3 in two steps.
FATHOM_OP(Dfma, double, "+d", std::fma(x, a, a), "fma.rn.f64 %0, %0, %1, %1;", "d"(o.a[i]))

__half rounded_to(__half, double value) { return __double2half(value); }
__nv_bfloat16 rounded_to(__nv_bfloat16, double value) { return __double2bfloat16(value); }
double widened(__half value) { return __half2float(value); }
double widened(__nv_bfloat16 value) { return __bfloat162float(value); }

/// Two 16-bit numbers in a register. The reference computes in double, where a product of two is
/// exact and so is its sum with a third of like size, and rounds once.
template <class Derived, class Half>
struct PairOp : LaneOp<Derived, std::uint32_t> {
  using Base = LaneOp<Derived, std::uint32_t>;
  static std::uint32_t packed(double low, double high) {
    const Half halves[2] = {rounded_to(Half{}, low), rounded_to(Half{}, high)};
    std::uint32_t word;
    std::memcpy(&word, halves, sizeof word);
    return word;
  }
  static std::uint32_t start(int lane, int chain) {
    return packed(1 + (lane + chain) / 32.0, 1 + (2 * chain + lane + 1) / 64.0);
  }
  static typename Base::Operands operands(int) {
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

struct Hadd2 : PairOp<Hadd2, __half> {
  FATHOM_STEP("+r", by_half([](double u, double, double w) { return u + w; }, x, a, b),
              "add.rn.f16x2 %0, %0, %1;", "r"(o.b[i]))
};

struct Hmul2 : PairOp<Hmul2, __half> {
  FATHOM_STEP("+r", by_half([](double u, double v, double) { return u * v; }, x, a, b),
              "mul.rn.f16x2 %0, %0, %1;", "r"(o.a[i]))
};

struct Hfma2 : ManyChains<PairOp<Hfma2, __half>> {
  FATHOM_STEP("+r", by_half([](double u, double v, double w) { return u * v + w; }, x, a, b),
              "fma.rn.f16x2 %0, %0, %1, %2;", "r"(o.a[i]), "r"(o.b[i]))
};

struct Hfma2Bf16 : ManyChains<PairOp<Hfma2Bf16, __nv_bfloat16>> {
  static __device__ void step(std::uint32_t& x, const Operands& o, int i) {
#if __CUDA_ARCH__ >= 800
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(o.a[i]), "r"(o.b[i]));
#endif
  }
  static std::uint32_t next(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    return by_half([](double u, double v, double w) { return u * v + w; }, x, a, b);
  }
};

}  // namespace

std::span<const Kernels> float_kernels() {
  static const std::array list{
      FATHOM_KERNELS(Fadd),  FATHOM_KERNELS(Fmul),  FATHOM_KERNELS(Ffma),     FATHOM_KERNELS(Fmnmx),
      FATHOM_KERNELS(Dadd),  FATHOM_KERNELS(Dmul),  FATHOM_KERNELS(Dfma),     FATHOM_KERNELS(Hadd2),
      FATHOM_KERNELS(Hmul2), FATHOM_KERNELS(Hfma2), FATHOM_KERNELS(Hfma2Bf16)};
  return list;
}

}  // namespace fathom::instructions
