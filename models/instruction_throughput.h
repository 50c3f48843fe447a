#pragma once

#include <optional>
#include <string_view>

namespace fathom::models {

/// Rows of the table "Throughput of Native Arithmetic Instructions" of the CUDA C++ Best Practices
/// Guide (section 12.1.1; until CUDA 12 of the Programming Guide).
enum class NativeOperation {
  f16_arithmetic,   ///< add, multiply, multiply-add; a result is one half, so that f16x2 gives two
  bf16_arithmetic,  ///< the same of bfloat16
  f32_arithmetic,
  f64_arithmetic,
  special_function,  ///< approximate reciprocal, rsqrt, logarithm and exponential, sine, cosine
  integer_add3,      ///< of three operands; extended-precision add, subtract
  integer_multiply,  ///< 32-bit multiply, multiply-add
  integer_shift,
  integer_min_max,  ///< 32-bit minimum, maximum
  float_min_max,    ///< fp32 minimum, maximum
  bit_reverse,
  bitwise_logic,  ///< 32-bit AND, OR, XOR
  leading_zeros,  ///< count of leading zeros, most significant non-sign bit
  population_count,
  warp_shuffle,
  warp_reduce,
  warp_vote,
  convert_64_bit,        ///< from and to 64-bit floating point
  convert_int_to_float,  ///< 32-bit integer to fp32
  convert_float_to_int,  ///< fp32 to 32-bit integer
};

/// Results per clock and SM, or nothing where the table states no figure. It is the most that the
/// chip can do, for some operations only with sequences that a compiler does not make by itself.
std::optional<double> native_throughput(NativeOperation operation, int major, int minor);
inline constexpr std::string_view native_throughput_source =
    "CUDA C++ Best Practices Guide 13.3, table 5: native arithmetic instructions";

/// Lanes of warp instructions that an SM can issue in a clock: four schedulers, one instruction
/// each (A100 white paper, figure 7: four warp schedulers of 32 threads a clock; Programming Guide
/// 11.7, "Multiprocessor Level", for 7.x and 8.x).
inline constexpr double issued_lanes_per_clock = 128;

enum class TensorType { f16, bf16, tf32, fp8, s8, f64 };

/// Dense fused multiply-adds per clock and SM at the chip's best: what its white paper says of a
/// tensor core or an SM, or follows from its peak, SMs and clock. Where products of the same chip
/// differ (GeForce halves fp32 accumulation) the highest. Nothing where the chip lacks the type.
std::optional<double> tensor_fma_per_clock(TensorType type, int major, int minor);
inline constexpr std::string_view tensor_source =
    "architecture white paper: dense multiply-adds per clock and SM";

}  // namespace fathom::models
