#include "gemm/bench/tolerance.h"

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

/// How often so long a sum is rounded. The tensor cores add 32 of fp8 at once (wgmma's k).
double roundings(Class of, std::int64_t depth) {
  return std::max(1.0, static_cast<double>(depth) / (of == Class::fp8 ? 32 : 1));
}

/// In units of u sqrt(k): four times what the roundings of the sums make of the norm.
double norm_of_sums(Class of) { return of == Class::fp8 ? 4.0 / 8 : 4.0 / 2; }

/// Its square, times 2^24 since what errors are held against grows with k and not with sqrt(k),
/// times 2^40 elements is 2^1024: one more than fp64 has.
constexpr double largest_checked = 0x1p480;

/// Rounded to three digits, towards 0.
double rounded_down(double x) {
  const double digit = std::pow(10, std::floor(std::log10(x)) - 2);
  return std::floor(x / digit) * digit;
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

const ClassTraits& traits(Class of) { return *std::ranges::find(table, of, &ClassTraits::of); }

std::optional<Class> find_class(const std::string& name) {
  const auto row = std::ranges::find(table, name, &ClassTraits::name);
  if (row == std::end(table)) return std::nullopt;
  return row->of;
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

Tolerance tolerance(const Problem& problem, bool promoted) {
  const ClassTraits& t = traits(problem.of);
  if (t.accumulator == Element::s32) return {};
  const std::int64_t depth = promoted ? std::min(problem.k, promoted_depth) : problem.k;
  const double root = std::sqrt(static_cast<double>(std::max<std::int64_t>(depth, 1)));
  // alpha and beta are applied in the scalar's type, which rounds even where the sum cuts off.
  Tolerance result;
  result.per_magnitude =
      (8 * std::sqrt(roundings(problem.of, depth)) + 4) * t.sum_roundoff + 2 * t.input_roundoff;
  result.per_value = t.output_roundoff;
  result.absolute = traits(t.output).lost_below_normal;
  result.relative_frobenius = (norm_of_sums(problem.of) * root + 8) * t.sum_roundoff +
                              2 * t.input_roundoff + t.output_roundoff;
  return result;
}

long double largest_of_product(const Problem& p) {
  const ClassTraits& t = traits(p.of);
  const long double deviation = traits(t.input).deviation, k = static_cast<long double>(p.k);
  const long double alpha = p.k == 0 ? 0 : std::abs(p.alpha) * deviation * deviation;
  const long double beta = std::abs(p.beta) * static_cast<long double>(traits(t.output).deviation);
  constexpr long double s = 32;
  return std::sqrt(2 * s) * std::hypot(alpha * std::sqrt(k), beta) + s * alpha;
}

std::optional<std::string> overflows(const Problem& p) {
  const Element output = traits(p.of).output;
  const double largest = traits(output).largest, limit = std::min(largest, largest_checked);
  const long double reached = largest_of_product(p);
  if (reached <= limit) return std::nullopt;
  const auto share = static_cast<double>(limit / reached);
  const bool whole = output == Element::s32, of_alpha = p.beta == 0,
             of_beta = p.k == 0 || p.alpha == 0;
  std::string instead;
  if (of_alpha || of_beta) {
    const double most = std::abs(of_alpha ? p.alpha : p.beta) * share;
    instead = fmt::format("{} up to {:.6g}", of_alpha ? "alpha" : "beta",
                          whole ? std::floor(most) : rounded_down(most));
  } else {
    instead = fmt::format("both smaller, by a factor of {:.3g}", 1.01 / share);
  }
  return fmt::format(
      "alpha is {} and beta {}: with k = {}, an element of C may reach {}, and the largest that {} "
      "is {}: take {}",
      p.alpha, p.beta, p.k,
      reached <= std::numeric_limits<double>::max() ? fmt::format("{:.3g}", reached)
                                                    : "more than fp64 holds",
      limit == largest ? fmt::format("C of {} holds", traits(p.of).name) : "can be checked",
      whole ? fmt::format("{:.0f}", limit) : fmt::format("{:.6g}", limit), instead);
}

}  // namespace fathom::gemm
