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
  static __device__ void step(float& x, const Operands& o, int i) {
    asm volatile("{.reg .f32 t; add.ftz.f32 t, %0, %1; rcp.approx.ftz.f32 %0, t;}"
                 : "+f"(x)
                 : "f"(o.a[i]));
  }
  static float next(float x, float a, float) { return 1 / (x + a); }
};

struct MufuRsq : SpecialOp<MufuRsq, true> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  static float next(float x, float, float) { return 1 / std::sqrt(x); }
};

struct MufuSqrt : SpecialOp<MufuSqrt, true> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  static float next(float x, float, float) { return std::sqrt(x); }
};

struct MufuEx2 : SpecialOp<MufuEx2, true> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("{.reg .f32 t; neg.f32 t, %0; ex2.approx.ftz.f32 %0, t;}" : "+f"(x));
  }
  static float next(float x, float, float) { return std::exp2(-x); }
};

struct MufuLg2 : SpecialOp<MufuLg2, false> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("{.reg .f32 t; abs.f32 t, %0; lg2.approx.ftz.f32 %0, t;}" : "+f"(x));
  }
  static float next(float x, float, float) { return std::log2(std::abs(x)); }
};

/// With the multiplication that brings the angle into the function's range.
struct MufuSin : SpecialOp<MufuSin, false> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  static float next(float x, float, float) { return std::sin(x); }
};

struct MufuCos : SpecialOp<MufuCos, true> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("cos.approx.ftz.f32 %0, %0;" : "+f"(x));
  }
  static float next(float x, float, float) { return std::cos(x); }
};

struct MufuTanh : SpecialOp<MufuTanh, false, 10> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x));
  }
  static float next(float x, float, float) { return std::tanh(x); }
};

/// Float of an integer whose bits are then taken for the next integer: tends to a fixed point.
struct I2f : LaneOp<I2f, std::uint32_t> {
  static __device__ void step(std::uint32_t& x, const Operands&, int) {
    asm volatile("{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}" : "+r"(x));
  }
  static std::uint32_t next(std::uint32_t x, std::uint32_t, std::uint32_t) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(x)));
  }
};

/// A whole number there and back: such chains stand still, each step as exact as the next.
template <class Derived>
struct ThereAndBack : LaneOp<Derived, float> {
  static float start(int lane, int chain) {
    return static_cast<float>(hashed(32 * chain + lane) % 2000 + 1);
  }
  static float next(float x, float, float) { return x; }
};

struct F2iI2f : ThereAndBack<F2iI2f> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}" : "+f"(x));
  }
};

struct F16F32 : ThereAndBack<F16F32> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}" : "+f"(x));
  }
};

struct F64F32 : ThereAndBack<F64F32> {
  static __device__ void step(float& x, const Operands&, int) {
    asm volatile("{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}" : "+f"(x));
  }
};

}  // namespace

std::span<const Kernels> special_kernels() {
  static const std::array list{kernels_of<MufuRcp>("MufuRcp"),   kernels_of<MufuRsq>("MufuRsq"),
                               kernels_of<MufuSqrt>("MufuSqrt"), kernels_of<MufuEx2>("MufuEx2"),
                               kernels_of<MufuLg2>("MufuLg2"),   kernels_of<MufuSin>("MufuSin"),
                               kernels_of<MufuCos>("MufuCos"),   kernels_of<MufuTanh>("MufuTanh"),
                               kernels_of<I2f>("I2f"),           kernels_of<F2iI2f>("F2iI2f"),
                               kernels_of<F16F32>("F16F32"),     kernels_of<F64F32>("F64F32")};
  return list;
}

}  // namespace fathom::instructions
