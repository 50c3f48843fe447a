#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>

#include "probes/instructions/chain.cuh"

// Arithmetic of a lane: floating point of 16, 32 and 64 bits, special functions and conversions,
// integers of 32 bits.

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
    const std::array halves{rounded_to(Half{}, low), rounded_to(Half{}, high)};
    return std::bit_cast<std::uint32_t>(halves);
  }
  static std::uint32_t start(int lane, int chain) {
    return packed(1 + (lane + chain) / 32.0, 1 + (2 * chain + lane + 1) / 64.0);
  }
  static OperandPairs<std::uint32_t> operands(int) {
    return {{packed(1.5, 1.25), packed(2.0 / 3, 0.8)}, {packed(0.375, 0.5), packed(-0.375, -0.5)}};
  }
  static std::array<double, 2> unpacked(std::uint32_t word) {
    const auto halves = std::bit_cast<std::array<Half, 2>>(word);
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
  FATHOM_PTX_STEP(800, "fma.rn.bf16x2 %0, %0, %1, %2;", "+r"(x) : "r"(o.a[i]), "r"(o.b[i]))
  static std::uint32_t next(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    return by_half(multiply_add, x, a, b);
  }
};

/// A special function: approximate, right to 2^-18 of its result and 2^-20 absolutely (PTX ISA: the
/// largest error documented is 2^-20.5 for sine and cosine within their range, tanh's 2^-11 apart).
/// Where each step draws two values together (`Contracts`) that holds for the whole chain, too.
template <class Derived, bool Contracts, int Bits = 18>
struct SpecialOp : FloatOp<Derived> {
  static constexpr bool whole_chain = Contracts;
  static bool right(float want, float got) {
    if (!std::isfinite(want)) return want == got;
    return std::abs(got - want) <= std::abs(want) / (1 << Bits) + 0x1p-20;
  }
};

// Each chain tends to a number that is neither 0 nor infinite, but for sine's and tanh's, which
// shrink slowly, and the logarithm's, which wanders.

template <class Derived>
using ContractingOp = SpecialOp<Derived, true>;
template <class Derived>
using WanderingOp = SpecialOp<Derived, false>;

/// With an addition: of two reciprocals in a row the compiler leaves nothing.
FATHOM_OP(MufuRcp, ContractingOp, "+f", 1 / (x + a),
          "{.reg .f32 t; add.ftz.f32 t, %0, %1; rcp.approx.ftz.f32 %0, t;}", "f"(o.a[i]))
FATHOM_OP(MufuRsq, ContractingOp, "+f", 1 / std::sqrt(x), "rsqrt.approx.ftz.f32 %0, %0;")
FATHOM_OP(MufuSqrt, ContractingOp, "+f", std::sqrt(x), "sqrt.approx.ftz.f32 %0, %0;")
FATHOM_OP(MufuEx2, ContractingOp, "+f", std::exp2(-x),
          "{.reg .f32 t; neg.f32 t, %0; ex2.approx.ftz.f32 %0, t;}")
FATHOM_OP(MufuLg2, WanderingOp, "+f", std::log2(std::abs(x)),
          "{.reg .f32 t; abs.f32 t, %0; lg2.approx.ftz.f32 %0, t;}")
/// With the multiplication that brings the angle into the function's range.
FATHOM_OP(MufuSin, WanderingOp, "+f", std::sin(x), "sin.approx.ftz.f32 %0, %0;")
FATHOM_OP(MufuCos, ContractingOp, "+f", std::cos(x), "cos.approx.ftz.f32 %0, %0;")
struct MufuTanh : SpecialOp<MufuTanh, false, 10> {
  FATHOM_STEP("+f", std::tanh(x), "tanh.approx.f32 %0, %0;")
};

/// Float of an integer whose bits are then taken for the next integer: tends to a fixed point.
FATHOM_OP(I2f, WordOp, "+r",
          std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(x))),
          "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")

/// A whole number there and back: such chains stand still, each step as exact as the next.
template <class Derived>
struct ThereAndBack : FloatOp<Derived> {
  static float start(int lane, int chain) {
    return static_cast<float>(hashed(32 * chain + lane) % 2000 + 1);
  }
};
FATHOM_OP(F2iI2f, ThereAndBack, "+f", x,
          "{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}")
FATHOM_OP(F16F32, ThereAndBack, "+f", x, "{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}")
FATHOM_OP(F64F32, ThereAndBack, "+f", x, "{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}")

using Word = std::uint32_t;

/// Two additions, which are one instruction.
FATHOM_OP(Iadd3, WordOp, "+r", x + a + b, "{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}",
          "r"(o.a[i]), "r"(o.b[i]))

FATHOM_OP(Imad, WordOp, "+r", (x * a + b), "mad.lo.u32 %0, %0, %1, %2;", "r"(o.a[i]), "r"(o.b[i]))

/// 32 x 32 + 64 bits, which the compiler makes of a product and an addition. Takes both words of
/// the one before, else the compiler would leave out half.
struct ImadWide : LaneOp<ImadWide, std::uint64_t> {
  static std::uint64_t start(int lane, int chain) {
    return std::uint64_t{hashed(lane)} << 32 | hashed(32 * chain + lane);
  }
  static Operands operands(int lane) {
    const auto word = [&](int i) {
      return std::uint64_t{hashed(lane + i)} << 32 | hashed(1000 + lane + i);
    };
    return {{0, 0}, {word(0), word(100)}};
  }
  FATHOM_STEP("+l", static_cast<Word>(x) * (x >> 32) + b,
              "{.reg .u32 low, high; mov.b64 {low, high}, %0; mad.wide.u32 %0, low, high, %1;}",
              "l"(o.b[i]))
};

/// (x & a) ^ b: with other operands in the next step, so that two do not make one.
FATHOM_OP(Lop3, WordOp, "+r", (x & a) ^ b, "lop3.b32 %0, %0, %1, %2, %3;", "r"(o.a[i]), "r"(o.b[i]),
          "n"((0xF0 & 0xCC) ^ 0xAA))

FATHOM_OP(Shf, WordOp, "+r", b % 32 == 0 ? a : (a << b % 32) | (x >> (32 - b % 32)),
          "shf.l.wrap.b32 %0, %0, %1, %2;", "r"(o.a[i]), "r"(o.b[i]))

/// Even steps keep x where the first condition holds, odd steps where the second does.
struct Sel : WordOp<Sel> {
  static Operands operands(int lane) {
    Operands o = WordOp<Sel>::operands(lane);
    o.b[0] = lane % 2;
    o.b[1] = lane / 2 % 2;
    return o;
  }
  FATHOM_STEP("+r", b != 0 ? x : a, "{.reg .pred p; setp.ne.u32 p, %2, 0; selp.b32 %0, %0, %1, p;}",
              "r"(o.a[i]), "r"(o.b[i]))
};

/// As Fmnmx.
struct Imnmx : WordOp<Imnmx> {
  static Operands operands(int lane) {
    return {{hashed(lane) >> 2, hashed(lane) >> 2 | 0x4000'0000u}, {0, 1}};
  }
  static __device__ void step(Word& x, const Operands& o, int i) {
    if (i == 0)
      asm volatile("min.s32 %0, %0, %1;" : "+r"(x) : "r"(o.a[0]));
    else
      asm volatile("max.s32 %0, %0, %1;" : "+r"(x) : "r"(o.a[1]));
  }
  static Word next(Word x, Word a, Word b) {
    const std::int32_t s = x, t = a;
    return b == 0 ? std::min(s, t) : std::max(s, t);
  }
};

FATHOM_OP(Popc, WordOp, "+r", std::popcount(x), "popc.b32 %0, %0;")

/// Place of the highest bit set. Its chain runs through 4, 2, 1, 0, ~0 and 31.
FATHOM_OP(Flo, WordOp, "+r", x == 0 ? ~0u : 31 - std::countl_zero(x), "bfind.u32 %0, %0;")

Word reversed(Word x) {
  Word result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1u) << (31 - bit);
  return result;
}
FATHOM_OP(Brev, WordOp, "+r", reversed(x), "brev.b32 %0, %0;")

struct Prmt : WordOp<Prmt> {
  static Operands operands(int lane) {
    Operands o = WordOp<Prmt>::operands(lane);
    o.b[0] = 0x6035;
    o.b[1] = 0x2471;
    return o;
  }
  static Word permuted(std::uint64_t bytes, Word selector) {
    Word result = 0;
    for (int i = 0; i < 4; ++i)
      result |= Word(bytes >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
    return result;
  }
  FATHOM_STEP("+r", permuted(std::uint64_t{a} << 32 | x, b), "prmt.b32 %0, %0, %1, %2;",
              "r"(o.a[i]), "r"(o.b[i]))
};

Word dot_product(Word x, Word a, Word sum) {
  for (int i = 0; i < 4; ++i) sum += (x >> 8 * i & 0xFF) * (a >> 8 * i & 0xFF);
  return sum;
}
FATHOM_OP(Dp4a, WordOp, "+r", dot_product(x, a, b), "dp4a.u32.u32 %0, %0, %1, %2;", "r"(o.a[i]),
          "r"(o.b[i]))

/// A sequence: there is no instruction that divides. a / x, which stays between 1 and a. A wrong
/// result may be 0, which the host must not divide by.
template <class Derived>
struct Division : WordOp<Derived> {
  static constexpr int latency_short_steps = 4, latency_steps = 16;
  static constexpr int throughput_chains = 4, throughput_steps = 4;
  static OperandPairs<Word> operands(int lane) {
    const Word a = Derived::dividend(hashed(lane));
    return {{a, a}, {a, a}};
  }
  static Word start(int lane, int chain) { return hashed(32 * chain + lane) >> 12 | 1u; }
};

struct DivideU32 : Division<DivideU32> {
  static Word dividend(Word random) { return random | 0x8000'0000u; }
  FATHOM_STEP("+r", x == 0 ? ~0u : a / x, "div.u32 %0, %1, %0;", "r"(o.a[i]))
};

struct DivideS32 : Division<DivideS32> {
  static Word dividend(Word random) { return ~(random >> 2 | 0x2000'0000u); }  // negative
  FATHOM_STEP("+r", x == 0 ? ~0u : std::int32_t(a) / std::int32_t(x), "div.s32 %0, %1, %0;",
              "r"(o.a[i]))
};

}  // namespace

FATHOM_KERNELS(arithmetic_kernels, Fadd, Fmul, Ffma, Fmnmx, Dadd, Dmul, Dfma, Hadd2, Hmul2, Hfma2,
               Hfma2Bf16, MufuRcp, MufuRsq, MufuSqrt, MufuEx2, MufuLg2, MufuSin, MufuCos, MufuTanh,
               I2f, F2iI2f, F16F32, F64F32, Iadd3, Imad, ImadWide, Lop3, Shf, Sel, Imnmx, Popc, Flo,
               Brev, Prmt, Dp4a, DivideU32, DivideS32)

}  // namespace fathom::instructions
