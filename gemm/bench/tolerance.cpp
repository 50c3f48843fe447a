#include "gemm/bench/tolerance.h"

#include <algorithm>
#include <cmath>

namespace fathom::gemm {
namespace {

/// Half of the smallest subnormal number: what a conversion may lose beside its relative roundoff.
double lost_below_normal(Element output) {
  switch (output) {
    case Element::f16: return 0x1p-25;
    case Element::bf16: return 0x1p-134;
    case Element::f32: return 0x1p-150;
    default: return 0;
  }
}

/// How often a sum of so many products is rounded. The tensor cores add 32 of 8-bit floating point
/// to it at once (wgmma's k).
double roundings(Class of, std::int64_t depth) {
  return std::max(1.0, static_cast<double>(depth) / (of == Class::fp8 ? 32 : 1));
}

/// In units of u sqrt(k): four times what the roundings of the sums make of the norm.
double norm_of_sums(Class of) { return of == Class::fp8 ? 4.0 / 8 : 4.0 / 2; }

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
  result.absolute = lost_below_normal(t.output);
  result.relative_frobenius = (norm_of_sums(problem.of) * root + 8) * t.sum_roundoff +
                              2 * t.input_roundoff + t.output_roundoff;
  return result;
}

}  // namespace fathom::gemm
