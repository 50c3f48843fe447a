#pragma once

#include <optional>
#include <string>

#include "gemm/bench/problem.h"

namespace fathom::gemm {

/// Largest finite value of the type.
double largest(Element element);

/// What no element of C is beyond, of random data as the ladder fills the operands with. Of normal
/// data the sum of k products is a sub-gamma variable of variance k and scale 1 (Boucheron, Lugosi,
/// Massart, "Concentration Inequalities", 2013, section 2.4: ln E exp(tXY) = -ln(1 - t^2) / 2 <=
/// t^2 / 2(1 - t)), so that it is beyond sqrt(2 k s) + s with a probability of 2 exp(-s) at most,
/// and the old C adds to the variance. s is 32: 8 standard deviations and, where k is so small that
/// tails are longer than a normal variable's, 32 more; 2 exp(-32) of the 2^34 elements that a GPU
/// may hold is 0.0004.
double largest_of_product(const Problem& problem);

/// Why a valid problem's C would not fit, in one sentence without a full stop with what to take
/// instead, or nothing. Right kernels would then be called wrong, since C has infinities or has
/// wrapped around. C is also limited by what the check can square and add up in fp64.
std::optional<std::string> overflows(const Problem& problem);

}  // namespace fathom::gemm
