#include "models/instruction_throughput.h"

#include <algorithm>
#include <array>
#include <span>

namespace fathom::models {
namespace {

constexpr double unknown = 0;

/// Compute capabilities of the tables' columns. The guide has one column for 8.6 and 8.9 and one
/// for 12.0 and 12.1, and none for 8.7, 8.8 and 11.0.
constexpr std::array capabilities{75, 80, 86, 89, 90, 100, 103, 120};

/// What has these figures per clock and SM.
template <typename Name>
struct Row {
  Name name;
  std::array<double, capabilities.size()> figures;
};

// CUDA C++ Best Practices Guide, release 13.3 (May 2026), section 12.1.1, table 5 with its
// footnotes. Its row of half precision counts f16x2 instructions, hence twice its figures here. It
// says 64 for bit reversal with NOT as the instruction meant, and has no row for warp reduction:
// for these two the columns that the CUDA C++ Programming Guide 11.7 (May 2022), table 3, has. The
// Programming Guide had 256 halves for 8.6, 64 for additions of two operands, and for minimum and
// maximum 64 on every chip; the newer document counts. What Fathom measures of these on an H200,
// all but integer minimum and maximum (64), fp64 (55) and fp16 (200) is within 2 % of the column.
constexpr Row<NativeOperation> throughput_table[] = {
    {NativeOperation::f16_arithmetic, {128, 256, 128, 128, 256, 128, 128, 128}},
    {NativeOperation::bf16_arithmetic, {unknown, 128, 128, 128, 256, 128, 128, 128}},
    {NativeOperation::f32_arithmetic, {64, 64, 128, 128, 128, 128, 128, 128}},
    {NativeOperation::f64_arithmetic, {2, 32, 2, 2, 64, 64, 2, 2}},
    {NativeOperation::special_function, {16, 16, 16, 16, 16, 16, 16, 16}},
    {NativeOperation::integer_add3, {64, 64, 64, 64, 64, 64, 64, 64}},
    {NativeOperation::integer_multiply, {64, 64, 64, 64, 64, 64, 64, 64}},
    {NativeOperation::integer_shift, {64, 64, 64, 64, 64, 64, 64, 64}},
    {NativeOperation::integer_min_max, {64, 64, 64, 64, 128, 128, 128, 128}},
    {NativeOperation::float_min_max, {64, 64, 64, 64, 64, 128, 128, 64}},
    {NativeOperation::bit_reverse, {16, 16, 16, unknown, unknown, unknown, unknown, unknown}},
    {NativeOperation::bitwise_logic, {64, 64, 64, 64, 64, 64, 64, 64}},
    {NativeOperation::leading_zeros, {16, 16, 16, 16, 16, 16, 16, 16}},
    {NativeOperation::population_count, {16, 16, 16, 16, 16, 16, 16, 16}},
    {NativeOperation::warp_shuffle, {16, 32, 32, 32, 32, 32, 32, 32}},
    {NativeOperation::warp_reduce, {unknown, 16, 16, unknown, unknown, unknown, unknown, unknown}},
    {NativeOperation::warp_vote, {64, 64, 64, 64, 64, 64, 64, 128}},
    {NativeOperation::convert_64_bit, {2, 16, 2, 2, 16, 16, 2, 2}},
    {NativeOperation::convert_int_to_float, {16, 16, 64, 64, 64, 64, 64, 64}},
    {NativeOperation::convert_float_to_int, {16, 16, 16, 16, 16, 16, 2, 2}},
};

// fp16: A100 white paper, "A100 SM Architecture": eight tensor cores of 64 FMA in an SM of Volta
// and Turing, four of 256 in one of A100. Other types there, "A100 Tensor Cores": int8 is 16 times
// the fp32 of an SM of Turing and 32 times that of A100, bf16 as fp16, tf32 half of it, fp64 64.
// 9.0: H100 white paper, key features of the SM: twice an SM of A100 for each type, fp8 four times
// its fp16. The rest follows from a data sheet's peak, SMs and clock (models/gpu_table), to which a
// test holds all of the table: GA102 (RTX A6000), Ada with fp8 as int8 (L40S), B200, GB202 (RTX
// 5090, where the peak of fp16 with fp32 accumulation is half of what is here).
constexpr Row<TensorType> tensor_table[] = {
    {TensorType::f16, {512, 1024, 512, 512, 2048, 4096, unknown, 512}},
    {TensorType::bf16, {unknown, 1024, 512, 512, 2048, 4096, unknown, 512}},
    {TensorType::tf32, {unknown, 512, 256, 256, 1024, 2048, unknown, 256}},
    {TensorType::fp8, {unknown, unknown, unknown, 1024, 4096, 8192, unknown, 1024}},
    {TensorType::s8, {1024, 2048, 1024, 1024, 4096, 8192, unknown, 1024}},
    {TensorType::f64, {unknown, 64, unknown, unknown, 128, 64, unknown, unknown}},
};

template <typename Name>
std::optional<double> figure_of(std::span<const Row<Name>> table, Name name, int major, int minor) {
  const int capability = 10 * major + minor;
  const auto column = std::ranges::find(capabilities, capability == 121 ? 120 : capability);
  const auto row = std::ranges::find(table, name, &Row<Name>::name);
  if (column == capabilities.end() || row == table.end()) return std::nullopt;
  const double figure = row->figures[static_cast<std::size_t>(column - capabilities.begin())];
  return figure == unknown ? std::nullopt : std::optional(figure);
}

}  // namespace

std::optional<double> native_throughput(NativeOperation operation, int major, int minor) {
  return figure_of<NativeOperation>(throughput_table, operation, major, minor);
}

std::optional<double> tensor_fma_per_clock(TensorType type, int major, int minor) {
  return figure_of<TensorType>(tensor_table, type, major, minor);
}

}  // namespace fathom::models
