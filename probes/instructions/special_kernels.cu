#include <bit>

#include "probes/instructions/chain.cuh"

// Special functions and conversions.

namespace fathom::instructions {
namespace {

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

}  // namespace

FATHOM_KERNELS(special_kernels, MufuRcp, MufuRsq, MufuSqrt, MufuEx2, MufuLg2, MufuSin, MufuCos,
               MufuTanh, I2f, F2iI2f, F16F32, F64F32)

}  // namespace fathom::instructions
