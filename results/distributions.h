#pragma once

#include "results/document.h"

namespace fathom {

// Boost.Math's distributions, whose headers take seconds to compile: one file includes them.

/// P(X >= x) of the standard normal distribution.
double normal_tail(double x);
/// The x with P(X <= x) = p.
double normal_quantile(double p);

/// The t with P(T >= t) = p of Student's t, exact for small p too.
double student_upper_quantile(double degrees, double p);

/// P(X <= k) of n throws of a fair coin, and the largest k for which it is at most p, or 0.
double fair_coin_cdf(double n, double k);
double fair_coin_quantile(double n, double p);
/// Clopper and Pearson's interval of a share of which `hits` of `trials` are known; each side is
/// wrong with chance `tail`.
Interval share_interval(double trials, double hits, double tail);

}  // namespace fathom
