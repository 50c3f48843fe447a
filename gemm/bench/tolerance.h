#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gemm/bench/problem.h"

namespace fathom::gemm {

/// How far a product may be from the fp64 reference. With magnitude = |alpha| |A||B| + |beta||C|,
/// per element, an element may be off by
///   per_magnitude * magnitude + per_value * |reference| + absolute,
/// and the whole by `relative_frobenius` of the reference's norm. Where a number is not finite, or
/// the comparison false for any other reason, the product is wrong.
struct Tolerance {
  double per_magnitude = 0;
  double per_value = 0;
  double absolute = 0;
  double relative_frobenius = 0;
};

/// Per element: each of the k additions errs by at most u times the partial sum, which the
/// magnitude bounds; roundings behave as if independent, so that their sum grows with sqrt(k)
/// (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019), and 8 of
/// these standard deviations, with 4 u for alpha, beta and the last addition, no right kernel
/// exceeds, in whatever order it sums. What the arithmetic cuts off the operands, as tf32 does, is
/// the same for each product of two: twice that, without the root. The conversion to C's type adds
/// its roundoff, and half of the smallest subnormal number.
///
/// The norm is the sharper test, since errors of opposite sign do not add up there: of normal
/// random data the partial sums grow as sqrt(i), so the sum of k roundings is about u k / 2 against
/// an element of about sqrt(k): u sqrt(k) / 2. Four times that, and 8 u for the rest, still sees a
/// single wrong step of k, which would cost sqrt(1 / k), wherever u k is well below 1.
///
/// For fp8, u is so large that this bound would miss a wrong step at k = 4096. But the tensor cores
/// add 32 products to the sum at once (wgmma's k), so an element is rounded k / 32 times, and the
/// norm's error is about u sqrt(k) / 8. Four times that sees one wrong step of k up to 8192; at
/// 16384 a step costs 0.0078, and 0.0127 is allowed. An H200 has 0.17 u sqrt(k) at 4096 and 0.20 at
/// 16384, and no element was off by more than 0.4 of what is allowed for it.
///
/// Integers must be equal. `promoted`: of fp8, only so many of k stay with the tensor cores before
/// the threads add them in fp32, which costs next to nothing: the k of these bounds is that.
Tolerance tolerance(const Problem& problem, bool promoted = false);

/// So much of k a promoted kernel sums in the tensor cores: a stage of 128 bytes.
inline constexpr std::int64_t promoted_depth = 128;

/// What no element of C is beyond, for random data as the ladder fills the operands with. For
/// normal data the sum of k products is a sub-gamma variable of variance k and scale 1 (Boucheron,
/// Lugosi, Massart, "Concentration Inequalities", 2013, section 2.4: ln E exp(tXY) = -ln(1 - t^2) /
/// 2 <= t^2 / 2(1 - t)), so that it is beyond sqrt(2 k s) + s with a probability of 2 exp(-s) at
/// most, and the old C adds to the variance. s is 32: 8 standard deviations and, where k is so
/// small that tails are longer than a normal variable's, 32 more; 2 exp(-32) of the 2^34 elements
/// that a GPU may hold is 0.0004. Scalars may be so large that fp64 does not hold it.
long double largest_of_product(const Problem& problem);

/// Why a valid problem's C would not fit, in one sentence without a full stop with what to take
/// instead, or nothing. Right kernels would then be called wrong, since C has infinities or has
/// wrapped around. C is also limited by what the check can square and add up in fp64.
std::optional<std::string> overflows(const Problem& problem);

}  // namespace fathom::gemm
