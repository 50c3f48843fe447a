#include "gemm/bench/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::gemm {
namespace {

// From the number of explicit mantissa bits: fp32 23, fp64 52, fp16 10, bf16 7.
constexpr double fp32 = 0x1p-24, fp64 = 0x1p-53, fp16 = 0x1p-11, bf16 = 0x1p-8;
/// Where the tensor cores add in fp32: nobody promises that they round to nearest.
constexpr double fp32_cut = 0x1p-23;
/// tf32 has 10 explicit mantissa bits, and the hardware may cut off the others.
constexpr double tf32_cut = 0x1p-10;
/// Two tf32 numbers hold an fp32 but for 2^-23 of it; low times low, which is left out, is at most
/// 2^-22 of a product: half of the three together (gemm/blocks/tf32_split.cuh). What the tensor
/// cores cut off of at most 32 products is below what fp32 rounds of a long sum.
constexpr double two_tf32 = 0x1p-22;
/// Sums of fp8 products as the tensor cores of Hopper keep them when they accumulate fast.
constexpr double fp8_sum = 0x1p-13;

constexpr ClassTraits table[] = {
    {Class::fp32, "fp32", Element::f32, Element::f32, Element::f32, Element::f32, 0, fp32, 0},
    {Class::fp32_3xtf32, "fp32-3xtf32", Element::f32, Element::f32, Element::f32, Element::f32,
     two_tf32, fp32, 0},
    {Class::fp64, "fp64", Element::f64, Element::f64, Element::f64, Element::f64, 0, fp64, 0},
    {Class::fp16, "fp16", Element::f16, Element::f32, Element::f32, Element::f16, 0, fp32_cut,
     fp16},
    {Class::bf16, "bf16", Element::bf16, Element::f32, Element::f32, Element::bf16, 0, fp32_cut,
     bf16},
    {Class::tf32, "tf32", Element::f32, Element::f32, Element::f32, Element::f32, tf32_cut,
     fp32_cut, 0},
    {Class::fp8, "fp8", Element::e4m3, Element::f32, Element::f32, Element::bf16, 0, fp8_sum, bf16},
    {Class::int8, "int8", Element::s8, Element::s32, Element::s32, Element::s32, 0, 0, 0},
};

std::int64_t elements(std::int64_t rows, std::int64_t columns, std::int64_t leading_dimension) {
  return rows == 0 || columns == 0 ? 0 : leading_dimension * (columns - 1) + rows;
}

}  // namespace

const ElementTraits& traits(Element element) {
  static constexpr ElementTraits table[] = {
      {4, std::numeric_limits<float>::max(), 0x1p-150, 1},    // f32
      {8, std::numeric_limits<double>::max(), 0, 1},          // f64
      {2, 65504, 0x1p-25, 1},                                 // f16
      {2, 0x1.FEp127, 0x1p-134, 1},                           // bf16
      {1, 448, 0, 1},                                         // e4m3
      {1, 127, 0, 32},                                        // s8
      {4, std::numeric_limits<std::int32_t>::max(), 0, 1000}  // s32
  };
  return table[static_cast<int>(element)];
}

std::span<const ClassTraits> all_classes() { return table; }

const ClassTraits& traits(Class of) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const ClassTraits& row) { return row.of == of; });
}

std::optional<Class> find_class(const std::string& name) {
  for (const ClassTraits& row : table) {
    if (row.name == name) return row.of;
  }
  return std::nullopt;
}

double Problem::flops() const { return 2.0 * double(m) * double(n) * double(k); }

double Problem::minimum_bytes() const {
  const ClassTraits& t = traits(of);
  const bool reads_operands = alpha != 0;
  const double operands = reads_operands ? double(m) * double(k) + double(k) * double(n) : 0;
  return operands * element_bytes(t.input) +
         double(m) * double(n) * element_bytes(t.output) * (beta == 0 ? 1 : 2);
}

std::int64_t Problem::a_elements() const { return elements(a_rows(), a_columns(), lda); }
std::int64_t Problem::b_elements() const { return elements(b_rows(), b_columns(), ldb); }

std::string Problem::layout() const {
  return std::string(transa == Transpose::no ? "N" : "T") + (transb == Transpose::no ? "N" : "T");
}

std::string Problem::describe() const {
  std::string text = fmt::format("{} {} {}x{}x{}", traits(of).name, layout(), m, n, k);
  const Problem usual = make_problem(of, m, n, k, transa, transb);
  if (lda != usual.lda) text += fmt::format(" lda {}", lda);
  if (ldb != usual.ldb) text += fmt::format(" ldb {}", ldb);
  if (ldc != usual.ldc) text += fmt::format(" ldc {}", ldc);
  if (alpha != 1) text += fmt::format(" alpha {}", alpha);
  if (beta != 0) text += fmt::format(" beta {}", beta);
  return text;
}

Problem make_problem(Class of, std::int64_t m, std::int64_t n, std::int64_t k, Transpose transa,
                     Transpose transb, double alpha, double beta) {
  Problem problem{of, m, n, k, 1, 1, 1, transa, transb, alpha, beta};
  problem.lda = std::max<std::int64_t>(1, problem.a_rows());
  problem.ldb = std::max<std::int64_t>(1, problem.b_rows());
  problem.ldc = std::max<std::int64_t>(1, m);
  return problem;
}

std::optional<std::string> invalid(const Problem& p) {
  const Problem usual = make_problem(p.of, p.m, p.n, p.k, p.transa, p.transb);
  for (const auto& [name, given, least] : {std::tuple{"lda", p.lda, usual.lda},
                                           {"ldb", p.ldb, usual.ldb},
                                           {"ldc", p.ldc, usual.ldc}}) {
    if (given < least)
      return fmt::format("{} is {}: take at least {}, the rows of that matrix as it is stored",
                         name, given, least);
  }
  const Element type = traits(p.of).scalar;
  for (const auto& [name, scalar] : {std::pair{"alpha", p.alpha}, {"beta", p.beta}}) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (type == Element::f32 && std::abs(scalar) > largest)
      return fmt::format("{} is {}: take {:.3g} at most, since it is rounded to fp32", name, scalar,
                         largest);
    if (type == Element::s32 && scalar != std::rint(scalar))
      return fmt::format("{} is {}: integer products take whole numbers", name, scalar);
    if (type == Element::s32 && std::abs(scalar) > 0x1p30)
      return fmt::format("{} is {}: integer products take 2^30 at most", name, scalar);
  }
  return std::nullopt;
}

}  // namespace fathom::gemm
