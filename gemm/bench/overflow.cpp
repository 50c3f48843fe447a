#include "gemm/bench/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::gemm {
namespace {

/// Standard deviation of random data of this type, as harness/buffers.h has it.
double deviation(Element element) {
  switch (element) {
    case Element::s8:
      return 32;
    case Element::s32:
      return 1000;
    default:
      return 1;
  }
}

/// Its square, times 2^24 since what errors are held against grows with k and not with sqrt(k),
/// times 2^40 elements is 2^1024: one more than fp64 has.
constexpr double largest_checked = 0x1p480;

/// Of scalars so large that what they make of sums has no number any more: the same products,
/// smaller by this, have one.
constexpr double far_less = 0x1p-600;

/// Rounded to three digits, towards 0.
double rounded_down(double x) {
  const double digit = std::pow(10, std::floor(std::log10(x)) - 2);
  return std::floor(x / digit) * digit;
}

}  // namespace

double largest(Element element) {
  switch (element) {
    case Element::f64:
      return std::numeric_limits<double>::max();
    case Element::f32:
      return std::numeric_limits<float>::max();
    case Element::s32:
      return std::numeric_limits<std::int32_t>::max();
    case Element::f16:
      return 65504;
    case Element::bf16:
      return 0x1.FEp127;
    case Element::e4m3:
      return 448;
    case Element::s8:
      return 127;
  }
  return 0;
}

double largest_of_product(const Problem& p) {
  const ClassTraits& t = traits(p.of);
  const double alpha = p.k == 0 ? 0 : std::abs(p.alpha) * deviation(t.input) * deviation(t.input);
  const double beta = std::abs(p.beta) * deviation(t.output);
  constexpr double s = 32;
  return std::sqrt(2 * s) * std::hypot(alpha * std::sqrt(static_cast<double>(p.k)), beta) +
         s * alpha;
}

std::optional<std::string> overflows(const Problem& p) {
  const Element output = traits(p.of).output;
  const double limit = std::min(largest(output), largest_checked), reached = largest_of_product(p);
  if (reached <= limit) return std::nullopt;
  Problem less = p;
  less.alpha *= far_less;
  less.beta *= far_less;
  const double share = limit * far_less / largest_of_product(less);
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
      "alpha is {} and beta {}: with k = {}, an element of C may reach {}, and the largest that "
      "{} is "
      "{}: take {}",
      p.alpha, p.beta, p.k,
      std::isfinite(reached) ? fmt::format("{:.3g}", reached) : "more than fp64 holds",
      limit == largest(output) ? fmt::format("C of {} holds", traits(p.of).name) : "can be checked",
      whole ? fmt::format("{:.0f}", limit) : fmt::format("{:.6g}", limit), instead);
}

}  // namespace fathom::gemm
