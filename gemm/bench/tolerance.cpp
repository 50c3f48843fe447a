#include "gemm/bench/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::gemm {
namespace {

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
