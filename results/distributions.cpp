#include "results/distributions.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace fathom {

using boost::math::binomial;
using boost::math::complement;
using boost::math::normal;
using boost::math::students_t;

double normal_tail(double x) { return cdf(complement(normal(), x)); }
double normal_quantile(double p) { return quantile(normal(), p); }

double student_upper_quantile(double degrees, double p) {
  return quantile(complement(students_t(degrees), p));
}

double fair_coin_cdf(double n, double k) { return cdf(binomial(n, 0.5), k); }
double fair_coin_quantile(double n, double p) { return quantile(binomial(n, 0.5), p); }

Interval share_interval(double trials, double hits, double tail) {
  return {binomial::find_lower_bound_on_p(trials, hits, tail),
          binomial::find_upper_bound_on_p(trials, hits, tail), 1 - 2 * tail, "Clopper-Pearson"};
}

}  // namespace fathom
