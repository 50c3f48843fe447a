#include <bit>

#include "probes/instructions/chain.cuh"

// Special functions and conversions.

namespace fathom::instructions {
namespace {

/// A special function: approximate, right to 2^-18 of its result and 2^-20 absolutely (PTX ISA: the
/// largest error documented is 2^-20.5 for sine and cosine within their range, tanh's 2^-11 apart).
/// Where each step draws two values together (`Contracts`) that holds for the whole chain, too.
template <class Derived, bool Contracts, int Bits = 18>
struct SpecialOp : LaneOp<Derived, float> {
  static constexpr bool whole_chain = Contracts;
  static bool right(float want, float got) {
    if (!std::isfinite(want)) return want == got;
    return std::abs(got - want) <= std::abs(want) / (1 << Bits) + 0x1p-20;
  }
};

// Each chain tends to a number that is neither 0 nor infinite, but for sine's and tanh's, which
// shrink slowly, and the logarithm's, which wanders.

/// With an addition: of two reciprocals in a row the compiler leaves nothing.
struct MufuRcp : SpecialOp<MufuRcp, true> {
  FATHOM_STEP("+f", 1 / (x + a), "{.reg .f32 t; add.ftz.f32 t, %0, %1; rcp.approx.ftz.f32 %0, t;}",
              "f"(o.a[i]))
};

struct MufuRsq : SpecialOp<MufuRsq, true> {
  FATHOM_STEP("+f", 1 / std::sqrt(x), "rsqrt.approx.ftz.f32 %0, %0;")
};

struct MufuSqrt : SpecialOp<MufuSqrt, true> {
  FATHOM_STEP("+f", std::sqrt(x), "sqrt.approx.ftz.f32 %0, %0;")
};

struct MufuEx2 : SpecialOp<MufuEx2, true> {
  FATHOM_STEP("+f", std::exp2(-x), "{.reg .f32 t; neg.f32 t, %0; ex2.approx.ftz.f32 %0, t;}")
};

struct MufuLg2 : SpecialOp<MufuLg2, false> {
  FATHOM_STEP("+f", std::log2(std::abs(x)),
              "{.reg .f32 t; abs.f32 t, %0; lg2.approx.ftz.f32 %0, t;}")
};

/// With the multiplication that brings the angle into the function's range.
struct MufuSin : SpecialOp<MufuSin, false> {
  FATHOM_STEP("+f", std::sin(x), "sin.approx.ftz.f32 %0, %0;")
};

struct MufuCos : SpecialOp<MufuCos, true> {
  FATHOM_STEP("+f", std::cos(x), "cos.approx.ftz.f32 %0, %0;")
};

struct MufuTanh : SpecialOp<MufuTanh, false, 10> {
  FATHOM_STEP("+f", std::tanh(x), "tanh.approx.f32 %0, %0;")
};

/// Float of an integer whose bits are then taken for the next integer: tends to a fixed point.
FATHOM_OP(I2f, std::uint32_t, "+r",
          std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(x))),
          "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")

/// A whole number there and back: such chains stand still, each step as exact as the next.
template <class Derived>
struct ThereAndBack : LaneOp<Derived, float> {
  static float start(int lane, int chain) {
    return static_cast<float>(hashed(32 * chain + lane) % 2000 + 1);
  }
};

struct F2iI2f : ThereAndBack<F2iI2f> {
  FATHOM_STEP("+f", x, "{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}")
};

struct F16F32 : ThereAndBack<F16F32> {
  FATHOM_STEP("+f", x, "{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}")
};

struct F64F32 : ThereAndBack<F64F32> {
  FATHOM_STEP("+f", x, "{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}")
};

}  // namespace

std::span<const Kernels> special_kernels() {
  static const std::array list{
      FATHOM_KERNELS(MufuRcp), FATHOM_KERNELS(MufuRsq),  FATHOM_KERNELS(MufuSqrt),
      FATHOM_KERNELS(MufuEx2), FATHOM_KERNELS(MufuLg2),  FATHOM_KERNELS(MufuSin),
      FATHOM_KERNELS(MufuCos), FATHOM_KERNELS(MufuTanh), FATHOM_KERNELS(I2f),
      FATHOM_KERNELS(F2iI2f),  FATHOM_KERNELS(F16F32),   FATHOM_KERNELS(F64F32)};
  return list;
}

}  // namespace fathom::instructions
