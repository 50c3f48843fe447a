#include "models/instruction_throughput.h"

#include <array>

namespace fathom::models {
namespace {

constexpr double unknown = 0;

/// One row: results per clock and SM for compute capability 7.5, 8.0, 8.6 (and 8.7), 8.9, 9.0, 10.0
/// and 12.0 (and 12.1).
struct Row {
  NativeOperation operation;
  std::array<double, 7> results;
};

// 7.5 to 9.0: Programming Guide of CUDA 12. 10.0 and 12.0: what the Best Practices Guide of CUDA 13
// adds. How sure the columns are: an H200 measures what that of 9.0 says, to 2 % but for dfma (-14 %)
// and hfma2 (-22 %), and nothing above it; some of 10.0 and 12.0 were seen at second hand; the rest
// was not compared with the document again. The rate of f16 is also what the white papers give for
// arithmetic outside the tensor cores: A100 78 (bf16: 39), H100 133.8 TFLOP/s, GA102 as fp32.
constexpr std::array table{
    Row{NativeOperation::f16_arithmetic, {128, 256, 128, 128, 256, unknown, 128}},
    Row{NativeOperation::bf16_arithmetic, {unknown, 128, 128, 128, 256, unknown, unknown}},
    Row{NativeOperation::f32_arithmetic, {64, 64, 128, 128, 128, 128, 128}},
    Row{NativeOperation::f64_arithmetic, {2, 32, 2, 2, 64, 64, 2}},
    Row{NativeOperation::special_function, {16, 16, 16, 16, 16, 16, 16}},
    Row{NativeOperation::integer_add, {64, 64, 64, 64, 64, unknown, 128}},
    Row{NativeOperation::integer_multiply, {64, 64, 64, 64, 64, 64, 64}},
    Row{NativeOperation::integer_shift, {64, 64, 64, 64, 64, 64, 64}},
    Row{NativeOperation::integer_compare, {64, 64, 64, 64, 64, unknown, 128}},
    Row{NativeOperation::float_compare, {64, 64, 64, 64, 64, 128, 64}},
    Row{NativeOperation::bit_reverse, {16, 16, 16, 16, 16, 16, 16}},
    Row{NativeOperation::bitwise_logic, {64, 64, 64, 64, 64, unknown, 64}},
    Row{NativeOperation::leading_zeros, {16, 16, 16, 16, 16, 16, 16}},
    Row{NativeOperation::population_count, {16, 16, 16, 16, 16, 16, 16}},
    Row{NativeOperation::warp_shuffle, {32, 32, 32, 32, 32, 32, 32}},
    Row{NativeOperation::warp_reduce, {unknown, 16, 16, 16, 16, 16, 16}},
    Row{NativeOperation::warp_vote, {64, 64, 64, 64, 64, unknown, 128}},
    Row{NativeOperation::convert_64_bit, {2, 16, 2, 2, 16, unknown, 2}},
    Row{NativeOperation::convert_other, {unknown, unknown, 64, 64, 64, 64, 64}},
};

/// Turing: 8 tensor cores of 64 fp16 FMA (TU102 white paper). A100: 1024 fp16 FMA, fp64 64 (A100
/// white paper). GA10x: 512 (A6000: 309.7 TFLOP/s with sparsity). Ada as GA10x, fp8 as int8. H100:
/// twice the A100 for each type, fp8 as int8 (H100 white paper: 989.4 TFLOP/s with 132 SMs at 1830
/// MHz). B200: 2250 TFLOP/s with 148 SMs at 1.965 GHz is just below 4096, fp64 37 TFLOP/s is 64.
/// RTX Blackwell: 419 TFLOP/s fp16 with 170 SMs at 2.407 GHz.
struct TensorRow {
  TensorType type;
  std::array<double, 7> fma;
};

constexpr std::array tensor_table{
    TensorRow{TensorType::f16, {512, 1024, 512, 512, 2048, 4096, 512}},
    TensorRow{TensorType::bf16, {unknown, 1024, 512, 512, 2048, 4096, 512}},
    TensorRow{TensorType::tf32, {unknown, 512, 256, 256, 1024, 2048, 256}},
    TensorRow{TensorType::fp8, {unknown, unknown, unknown, 1024, 4096, 8192, 1024}},
    TensorRow{TensorType::s8, {1024, 2048, 1024, 1024, 4096, 8192, 1024}},
    TensorRow{TensorType::f64, {unknown, 64, unknown, unknown, 128, 64, unknown}},
};

/// Column of a compute capability; -1 for one that the tables lack (10.3 among them, which has
/// other rates for some rows).
int column_of(int major, int minor) {
  if (major == 7 && minor == 5) return 0;
  if (major == 8) return minor == 0 ? 1 : minor == 6 || minor == 7 ? 2 : minor == 9 ? 3 : -1;
  if (major == 9 && minor == 0) return 4;
  if (major == 10 && minor == 0) return 5;
  return major == 12 ? 6 : -1;
}

std::optional<double> known(double value) {
  return value == unknown ? std::nullopt : std::optional(value);
}

}  // namespace

std::optional<double> native_throughput(NativeOperation operation, int major, int minor) {
  const int column = column_of(major, minor);
  if (column < 0) return std::nullopt;
  for (const Row& row : table) {
    if (row.operation == operation) return known(row.results[column]);
  }
  return std::nullopt;
}

std::optional<double> tensor_fma_per_clock(TensorType type, int major, int minor) {
  const int column = column_of(major, minor);
  if (column < 0) return std::nullopt;
  for (const TensorRow& row : tensor_table) {
    if (row.type == type) return known(row.fma[column]);
  }
  return std::nullopt;
}

}  // namespace fathom::models
