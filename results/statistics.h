#pragma once

#include <optional>
#include <span>

#include "results/document.h"

namespace fathom {

// Robust statistics of samples. Every function of samples throws std::invalid_argument for none and
// for one that is not finite: a NaN never passes through into a result.

/// Middle of the sorted samples; the mean of the two middle ones where their number is even.
double median(std::span<const double> samples);

/// The same, or nothing where there are no samples.
std::optional<double> median_or_none(std::span<const double> samples);

/// Linear interpolation between the two nearest order statistics (Hyndman and Fan's type 7);
/// `p` from 0 to 1.
double quantile(std::span<const double> samples, double p);

/// Mean of the samples from the first quartile to the third: as little moved by outliers as the
/// median nearly, but finer than a clock's tick where samples are whole ticks. For fewer
/// than four samples, the mean of all.
double interquartile_mean(std::span<const double> samples);

/// Interval for the median from two order statistics: whatever the distribution, the number of
/// samples below its median is binomial(n, 1/2), so the interval from the k-th smallest to the k-th
/// largest covers it with probability at least 1 - 2 P(X < k). Takes the narrowest such interval
/// that reaches `confidence`, and states in `Interval::confidence` what it reaches. Fewer than six
/// samples cannot reach 95 %: the interval is then their whole range, with the lower confidence
/// that it has. Assumes independent samples.
Interval median_interval(std::span<const double> samples, double confidence = 0.95);

/// How much better `own` is than `opponent`, sample by sample: the median of own/opponent where
/// higher is better, of opponent/own where lower is, so that above 1 is better for `own`.
struct PairedRatio {
  double median = 0;
  Interval interval;
};

/// Pairs samples by their index, as timed alternately. Throws std::invalid_argument unless there
/// are as many of both and all are above zero.
PairedRatio paired_ratio(std::span<const double> own, std::span<const double> opponent,
                         Better better, double confidence = 0.95);

/// For normal samples the median absolute deviation is the standard deviation times the 0.75
/// quantile of the standard normal distribution; this is one over that quantile.
inline constexpr double mad_to_standard_deviation = 1.482602218505602;

/// Median absolute deviation from the median, times that: estimates the standard deviation of
/// normal samples, and is not moved by outliers.
double robust_spread(std::span<const double> samples);

/// Half the interval's width over `centre`; throws std::invalid_argument for a centre of zero.
double relative_half_width(const Interval& interval, double centre);

/// The t with P(T >= t) = p of Student's t, exact for small p too.
double student_upper_quantile(double degrees, double p);

}  // namespace fathom
