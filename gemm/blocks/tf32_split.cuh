#pragma once

#include <cstdint>

// An fp32 number as the sum of two that the tensor cores take as tf32 (8 bits of exponent, 10 of
// mantissa), so that three products of such parts make one of fp32.

namespace fathom::gemm {

/// The nearest tf32, ties away from zero, as fp32's bits. Within 2^-12 of the largest: infinite.
__host__ __device__ inline std::uint32_t nearest_tf32(std::uint32_t bits) {
  return (bits + 0x1000u) & 0xFFFFE000u;
}

struct SplitNumber {
  std::uint32_t high, low;  ///< bits of the two fp32
};

/// high = tf32(x), low = x - high, which fp32 holds exactly: it is at most 2^-11 of x, a multiple
/// of x's last bit, so of 12 bits with its sign. As tf32 cuts `low` to 11 bits, it loses that last
/// bit at most: 2^-23 of x. What is left out of a product, low times low, is at most 2^-22 of it
/// (Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the
/// FP32 theoretical peak performance", 2022, have the scheme, for TF32 and for fp16).
///
/// An infinite x gives an infinite high part and no number as low one.
__device__ inline SplitNumber split_tf32(std::uint32_t x) {
  const std::uint32_t high = nearest_tf32(x);
  return {high, __float_as_uint(__uint_as_float(x) - __uint_as_float(high))};
}

}  // namespace fathom::gemm
