#include "results/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <vector>

namespace fathom {
namespace {

using boost::math::binomial;
using boost::math::complement;
using boost::math::students_t;

std::vector<double> checked(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument("statistics of no samples");
  for (const double sample : samples)
    if (!std::isfinite(sample))
      throw std::invalid_argument(fmt::format("a sample is {}, not a finite number", sample));
  return {samples.begin(), samples.end()};
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy = checked(samples);
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> values = checked(samples);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle
                                : std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

std::optional<double> median_or_none(std::span<const double> samples) {
  return samples.empty() ? std::nullopt : std::optional(median(samples));
}

double interquartile_mean(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const std::size_t quarter = values.size() / 4;
  const auto kept = std::span(values).subspan(quarter, values.size() - 2 * quarter);
  return std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
}

double quantile(std::span<const double> samples, double p) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument("a quantile is from 0 to 1");
  const std::vector<double> values = sorted(samples);
  const double position = p * static_cast<double>(values.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  return std::lerp(values[below], values[below + 1], position - static_cast<double>(below));
}

Interval median_interval(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  const binomial fair_coin(static_cast<double>(n), 0.5);
  // The largest k for which 1 - 2 P(X < k) is at least the level; at least 1.
  const double outside = quantile(fair_coin, (1 - interval_level) / 2);
  const std::size_t k = 1 + static_cast<std::size_t>(outside);
  const double covered = 1 - 2 * cdf(fair_coin, outside);
  return {values[k - 1], values[n - k], std::max(0.0, covered),
          fmt::format("median, order statistics {} and {} of {}", k, n - k + 1, n)};
}

PairedRatio paired_ratio(std::span<const double> own, std::span<const double> opponent,
                         Better better) {
  if (own.size() != opponent.size())
    throw std::invalid_argument(
        fmt::format("{} samples cannot be paired with {}", own.size(), opponent.size()));
  std::vector<double> ratios(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!(own[i] > 0 && opponent[i] > 0))
      throw std::invalid_argument("a ratio needs samples above zero");
    ratios[i] = better == Better::higher ? own[i] / opponent[i] : opponent[i] / own[i];
  }
  PairedRatio result{fathom::median(ratios), median_interval(ratios)};
  result.interval.method = "paired ratios, " + result.interval.method;
  return result;
}

double robust_spread(std::span<const double> samples) {
  const double centre = median(samples);
  std::vector<double> deviations(samples.begin(), samples.end());
  for (double& deviation : deviations) deviation = std::abs(deviation - centre);
  return mad_to_standard_deviation * median(deviations);
}

double relative_half_width(const Interval& interval, double centre) {
  const double width = (interval.high - interval.low) / 2 / std::abs(centre);
  if (!std::isfinite(width)) throw std::invalid_argument("no relative width around zero");
  return width;
}

double student_upper_quantile(double degrees, double p) {
  return quantile(complement(students_t(degrees), p));
}

}  // namespace fathom
